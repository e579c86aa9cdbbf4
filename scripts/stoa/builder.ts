/** `stoa publish`, `deployments`, `rollback`: the storefronts of AI-built stores. */
import type { Command } from 'commander'
import { createApp } from '../../api/app.ts'
import { deploymentsOf, pin, previousOf, projectOf } from '../../api/builder/projects.ts'
import { publishStorefront } from '../../api/builder/publishing/publish-job.ts'
import {
  beginPublish,
  findPublish,
  PUBLISH,
  requireBuilder,
  runningPublish,
  type PublishRow,
} from '../../api/builder/publishing/publish.ts'
import { ensureProject } from '../../api/builder/project/workspace.ts'
import { leaveWord } from '../../api/jobs/presence.ts'
import { Runner } from '../../api/jobs/runner.ts'
import { createLog } from '../../api/server/log.ts'
import { contentUrlOf, type Config } from '../../api/server/config.ts'
import type { Registry, StoreRow } from '../../db/control/registry.ts'
import { Handles } from '../../db/handles.ts'
import { version } from '../../package.json'
import { print, requireStore, servicesOf, table, withRegistry } from './context.ts'

/** A server that runs takes the job up within this time; else the command does it itself. */
const TAKEN_UP_MS = 8_000
const POLL_MS = 300

/** The store that is meant; throws for one that no site builder made. */
async function builtStore(registry: Registry, idOrSlug: string): Promise<StoreRow> {
  const store = await requireStore(registry, idOrSlug)
  requireBuilder({ store, environment: 'live' })
  return store
}

/** Waits for a publish to end; builds it in this process when no server does, also where the process that did has died. */
async function waitFor(
  registry: Registry,
  config: Config,
  handles: Handles,
  { storeId, id }: { storeId: string; id: string },
): Promise<PublishRow> {
  const services = await servicesOf(registry, config)
  const read = () => handles.use(storeId, 'live', ({ read: db }) => findPublish(db, id))
  let overdue = Date.now() + TAKEN_UP_MS
  let runner: Runner | null = null
  for (;;) {
    const row = await read()
    if (!row) throw new Error('the publish is gone: a newer one has taken its place')
    if (row.running === null) return row
    if (Date.now() > overdue) {
      if (!runner) {
        createApp({ services, handles, version, contentUrl: contentUrlOf(config) })
        const kinds = { [PUBLISH]: publishStorefront(services) }
        runner = new Runner({ ...services, handles, kinds, log: createLog('silent'), isPartial: true })
      }
      // A process that is at it has the job, and keeps it.
      await runner.settleStore(storeId, 'live')
      overdue = Date.now() + TAKEN_UP_MS
    }
    await Bun.sleep(POLL_MS)
  }
}

async function publish({ store: idOrSlug, wait }: { store: string; wait?: boolean }, command: Command) {
  const outcome = await withRegistry(async (registry, config) => {
    const store = await builtStore(registry, idOrSlug)
    const services = await servicesOf(registry, config)
    await ensureProject(services, store.id)
    const handles = new Handles(config.database, 4)
    try {
      const { clock } = services
      // What a process has left that died is seen to its end first: without a server nobody else would.
      const left = wait ? await handles.use(store.id, 'live', ({ read }) => runningPublish(read)) : null
      if (left) await waitFor(registry, config, handles, { storeId: store.id, id: left.id })
      const row = await handles.use(store.id, 'live', (live) =>
        beginPublish({ store: live, services, storeId: store.id, moment: { clock, now: clock.now().toISOString() } }),
      )
      await leaveWord(registry.control, { storeId: store.id, environment: 'live' }, clock.now())
      const ended = wait ? await waitFor(registry, config, handles, { storeId: store.id, id: row.id }) : row
      const host = services.storefronts.hostOf(store.slug)
      return { ended, url: services.storefronts.urlOf(host), savedChanges: row.savedChanges }
    } finally {
      handles.close()
    }
  })
  const { ended, url, savedChanges } = outcome
  const { id, status, deploymentId, commitSha, reason } = ended
  print(command, { publishId: id, status, deploymentId, url, commitSha, reason, savedChanges }, [
    `${status}${reason ? `: ${reason}` : ''}`,
    ...(status === 'queued' ? ['a running server builds it; --wait tells how it ended'] : []),
    ...(status === 'live' || status === 'domain_pending' ? [url] : []),
  ])
  if (status === 'failed') process.exitCode = 1
}

async function deployments({ store: idOrSlug }: { store: string }, command: Command) {
  const data = await withRegistry(async (registry, config) => {
    const store = await builtStore(registry, idOrSlug)
    const { storefronts } = await servicesOf(registry, config)
    const liveId = (await projectOf(registry, store.id))?.liveId
    return (await deploymentsOf(registry, store.id)).map(({ id, kind, commitSha, createdAt, closed }) => ({
      ...{ id, kind, commitSha, createdAt, live: id === liveId, closed },
      url: storefronts.urlOf(storefronts.hostOf(id)),
    }))
  })
  const rows = data.map(({ id, kind, commitSha, createdAt, live, closed }) => [
    id,
    live ? 'live' : closed ? 'closed' : kind,
    commitSha.slice(0, 8),
    createdAt,
  ])
  print(command, { data, meta: { count: data.length } }, table(['ID', 'STATE', 'COMMIT', 'BUILT'], rows))
}

async function rollback({ store: idOrSlug }: { store: string }, command: Command) {
  const outcome = await withRegistry(async (registry) => {
    const store = await builtStore(registry, idOrSlug)
    const project = await projectOf(registry, store.id)
    const previous = project && (await previousOf(registry, project))
    if (!project?.liveId || !previous)
      throw new Error('there is nothing to roll back to: no deployment of another commit than the live one is kept')
    if (!(await pin(registry, { storeId: store.id, id: previous.id, now: new Date(), instead: project.liveId })))
      throw new Error('something else was published meanwhile: look at stoa deployments')
    return { deploymentId: previous.id, commitSha: previous.commitSha, replaced: project.liveId }
  })
  print(command, outcome, `${outcome.deploymentId} (${outcome.commitSha.slice(0, 8)}) is live again, in the place of ${outcome.replaced}`)
}

/** Adds the commands of the builder to the command line. */
export function builderCommands(program: Command) {
  program
    .command('publish')
    .description('build the storefront of an AI-built store and have its hosts serve it')
    .requiredOption('--store <id>', 'the store')
    .option('--wait', 'wait until it has ended, and build it here when no server runs')
    .action(publish)
  program.command('deployments').description('the deployments of a store').requiredOption('--store <id>', 'the store').action(deployments)
  program
    .command('rollback')
    .description('serve the deployment before the live one again')
    .requiredOption('--store <id>', 'the store')
    .action(rollback)
}
