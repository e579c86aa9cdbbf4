/** `/publish`: production builds of an AI-built store's storefront (document 2, Publish; document 7, Publishing). */
import { desc, eq } from 'drizzle-orm'
import { deployments } from '../../../db/control/tables.ts'
import { publishes } from '../../../db/store/builder.ts'
import { ownerOf } from '../../http/auth.ts'
import { resource } from '../../http/route.ts'
import { Named, Nullable, OneOf, Type, Uuid } from '../../http/schema.ts'
import type { Services } from '../../outside/services.ts'
import { buildsPerDayOf, requireRoom } from '../../store/room.ts'
import { missing, Refusal } from '../../values/refusal.ts'
import { isUuid } from '../../values/uuid.ts'
import { storeOfDomain } from '../domain/claims.ts'
import { projectOf, type DeploymentRow } from '../projects.ts'
import { ensureProject, isUp } from '../project/workspace.ts'
import { inspectorUrl } from './inspector.ts'
import {
  beginPublish,
  deploymentId,
  findPublish,
  Publish,
  publishView,
  READY_STATES,
  readyStateOf,
  requireBuilder,
  url,
  urlOf,
} from './publish.ts'

const Triggered = Named('PublishTrigger', {
  publishId: Uuid(),
  status: Type.Literal('queued'),
  deploymentId: deploymentId(),
  deploymentUrl: url(),
  inspectorUrl: Nullable(Type.String(), { description: 'A page with the log of the build, for an hour' }),
  savedChanges: Type.Boolean({ description: 'Whether unsaved work of the design workspace was committed to `main`' }),
})
const Deployment = Named('Deployment', {
  id: Type.String({ examples: ['dpl_8f3k2m9x1c7v5b4n6q0w2e3r'] }),
  url: Type.String({ examples: ['http://atelier-nord.localhost:3000'] }),
  readyState: OneOf(READY_STATES),
})

/** The deployment that a host of the store serves; null when the host is not the store's. */
async function deploymentAt(
  { registry, storefronts }: Services,
  store: { id: string; slug: string },
  text: string,
): Promise<DeploymentRow | null> {
  const host = text
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/[:/].*$/s, '')
  const parent = storefronts.place.domain.replace(/:\d+$/, '')
  const label = host.endsWith(`.${parent}`) ? host.slice(0, -parent.length - 1) : host
  const isOwn = label === store.slug || (await storeOfDomain(registry, host)) === store.id
  const id = isOwn ? (await projectOf(registry, store.id))?.liveId : label
  if (!id) return null
  const [row] = await registry.control.read.select().from(deployments).where(eq(deployments.id, id))
  return row?.storeId === store.id ? row : null
}

export const publishRoutes = resource('builder', '/publish')
  .post(
    '',
    {
      operationId: 'publish',
      summary: 'Publish the storefront',
      description:
        'Builds the `main` branch and has the hosts of the store serve it. 409 while a publish runs, or while the design workspace is not up: try again then. 403 when the disk quota is used up, 429 when the builds of a day are: see `GET /usage`.',
      scope: 'store:admin',
      responses: { 202: Triggered },
    },
    async (call) => {
      const { session, services, clock, now } = call
      requireBuilder(session)
      const storeId = session.store.id
      if (!(await isUp(services, storeId))) {
        call.after(() => ensureProject(services, storeId), 'always')
        throw new Refusal(409, 'the design workspace is being made: try again in a moment', {}, { 'retry-after': '5' })
      }
      await requireRoom({ registry: services.registry, db: call.db, owner: ownerOf(call) })
      const buildsPerDay = await buildsPerDayOf(services.registry, session.store)
      const row = await beginPublish({ store: call, services, storeId, moment: { clock, now }, buildsPerDay })
      return {
        publishId: row.id,
        status: 'queued' as const,
        deploymentId: row.deploymentId,
        deploymentUrl: row.deploymentId && urlOf(services, row.deploymentId),
        inspectorUrl: inspectorUrl(services, storeId, clock.now()),
        savedChanges: row.savedChanges,
      }
    },
  )
  .get(
    '/{publishId}',
    {
      operationId: 'getPublish',
      summary: 'Read a publish, or a deployment',
      description:
        'By the id of a publish: the one that runs, and the last verdict. By the id of a deployment (`dpl_…`) or a host name: that deployment alone, as `id`, `url` and `readyState`.',
      scope: 'store:admin',
      responses: { 200: Type.Union([Publish, Deployment]) },
    },
    async ({ db, params, session, services }) => {
      requireBuilder(session)
      const asked = params.publishId
      if (isUuid(asked)) {
        const row = await findPublish(db, asked)
        if (!row) throw missing('publish')
        return publishView(services, row)
      }
      const built = await deploymentAt(services, session.store, asked)
      const id = built?.id ?? asked
      const [row] = await db.select().from(publishes).where(eq(publishes.deploymentId, id)).orderBy(desc(publishes.id)).limit(1)
      if (!built && !row) throw missing('publish')
      const readyState = built?.closed ? ('CANCELED' as const) : row ? readyStateOf(row) : ('READY' as const)
      return { id, url: urlOf(services, id), readyState }
    },
  )
