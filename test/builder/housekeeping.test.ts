/** What is cleared away of deployments, and what stays: over a registry and folders as months of publishing leave them. */
import { mkdirSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { clearDeployments } from '../../api/builder/publishing/housekeeping.ts'
import { addProject, previousOf, projectOf, type DeploymentRow } from '../../api/builder/projects.ts'
import type { Services } from '../../api/outside/services.ts'
import { readConfig } from '../../api/server/config.ts'
import { servicesFor } from '../../api/services.ts'
import { openRegistry } from '../../db/control/open.ts'
import { deployments, projects } from '../../db/control/tables.ts'
import { newStore } from '../../scripts/new-store.ts'
import { folderFor } from '../folder.ts'

const NOW = new Date('2026-05-01T12:00:00.000Z')
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]
const ago = (ms: number) => new Date(NOW.getTime() - ms).toISOString()

let services: Services
let close: () => void
let storeId: string
let folders: Services['storefronts']['folders']
beforeAll(async () => {
  const config = readConfig({ DATA_DIR: folderFor('housekeeping'), LOG: 'silent' })
  const opened = await openRegistry(config.database)
  close = opened.close
  services = await servicesFor(config, { registry: opened.registry, baseUrl: 'http://127.0.0.1', port: 1 })
  services = { ...services, clock: { ...services.clock, now: () => NOW } }
  folders = services.storefronts.folders
  const about = { name: 'Shop', slug: 'shop', plan: 'starter', currency: 'usd', locale: 'en-US', aiBuilt: true } as const
  storeId = (await newStore(opened.registry, about, async () => {})).id
  await addProject(opened.registry, storeId, NOW)
})
afterAll(() => close())
beforeEach(async () => {
  rmSync(folders.deployments, { recursive: true, force: true })
  await services.registry.change(async (tx) => void (await tx.delete(deployments)))
})

/** Adds deployments, with their files; the one called `live` is what the hosts serve. */
async function given(rows: Record<string, Partial<DeploymentRow>>) {
  await services.registry.change(async (tx) => {
    for (const [name, row] of Object.entries(rows)) {
      const id = `dpl_${name}`
      const whole = {
        id,
        storeId,
        kind: 'production',
        commitSha: 'a',
        changes: 1,
        createdAt: ago(DAY * 30),
        replacedAt: null,
        closed: false,
      } as const
      await tx.insert(deployments).values({ ...whole, ...row })
      mkdirSync(join(folders.deployments, id), { recursive: true })
    }
    await tx.update(projects).set({ liveId: 'dpl_live' }).where(eq(projects.storeId, storeId))
  })
}

/** The names of those that are there after a round: as rows, which must be the same as in the folder. */
async function left() {
  await clearDeployments(services)
  const rows = (await services.registry.control.read.select().from(deployments)).map(({ id }) => id.slice(4)).sort()
  expect(
    readdirSync(folders.deployments)
      .map((id) => id.slice(4))
      .sort(),
  ).toEqual(rows)
  return rows
}

test('what was replaced goes after a day, but for the newest of another commit, which one can roll back to', async () => {
  await given({
    live: { commitSha: 'c' },
    recent: { commitSha: 'b', replacedAt: ago(HOUR * 23) },
    oldest: { commitSha: 'a', replacedAt: ago(DAY * 3) },
    old: { commitSha: 'a', replacedAt: ago(DAY * 2) },
  })
  expect(await left()).toEqual(['live', 'recent'])
  await given({ older: { commitSha: 'a', replacedAt: ago(DAY * 4) } })
  await services.registry.change(async (tx) => void (await tx.delete(deployments).where(eq(deployments.id, 'dpl_recent'))))
  await given({ new: { commitSha: 'b', replacedAt: ago(DAY * 2) } })
  const project = (await projectOf(services.registry, storeId))!
  expect((await previousOf(services.registry, project))!.id).toBe('dpl_new')
})

test('refreshes go ten minutes after a newer one of their commit was served; the last of a commit stays', async () => {
  await given({
    live: { commitSha: 'b', createdAt: ago(MINUTE) },
    recent: { commitSha: 'b', replacedAt: ago(MINUTE) },
    before: { commitSha: 'b', replacedAt: ago(MINUTE * 11) },
    first: { commitSha: 'a', replacedAt: ago(MINUTE * 14) },
    last: { commitSha: 'a', replacedAt: ago(MINUTE * 13) },
  })
  expect(await left()).toEqual(['last', 'live', 'recent'])
})

test('what was built and never served goes after a day, and is nothing to roll back to; a preview under review stays', async () => {
  await given({
    live: {},
    wanting: { commitSha: 'b', createdAt: ago(DAY + MINUTE) },
    verifying: { commitSha: 'c', createdAt: ago(MINUTE) },
    reviewed: { kind: 'preview', createdAt: ago(DAY * 9) },
    ended: { kind: 'preview', closed: true, replacedAt: ago(DAY * 2) },
  })
  expect(await previousOf(services.registry, (await projectOf(services.registry, storeId))!)).toBeUndefined()
  expect(await left()).toEqual(['live', 'reviewed', 'verifying'])
})

test('folders that nobody knows go, however many there are', async () => {
  await given({ live: {} })
  for (let n = 0; n < 1_200; n++) mkdirSync(join(folders.deployments, `dpl_zombie${n}`))
  for (const name of readdirSync(folders.deployments)) utimesSync(join(folders.deployments, name), NOW, new Date(NOW.getTime() - DAY * 2))
  expect(await left()).toEqual(['live'])
})
