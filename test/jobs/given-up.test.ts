import { eq, sql } from 'drizzle-orm'
import { beforeEach, describe, expect, test } from 'vitest'
import { endedKinds, jobKinds } from '../../api/job-kinds.ts'
import { enqueue } from '../../api/jobs/queue.ts'
import { Runner } from '../../api/jobs/runner.ts'
import { createLog } from '../../api/server/log.ts'
import { realClock } from '../../api/values/clock.ts'
import { Told } from '../../api/values/refusal.ts'
import type { JobKind } from '../../api/jobs/kind.ts'
import type { Db } from '../../db/driver.ts'
import { jobs } from '../../db/store/store.ts'
import { mailing } from '../mailing.ts'

const all = mailing()
const DAY_MS = 86_400_000
const inStore = <T>(fn: (tx: Db) => Promise<T>) => all.app.handles.use(all.shop.store.id, 'live', (store) => store.write(fn))
beforeEach(() => inStore((tx) => tx.run(sql`delete from jobs`)))

const list = async (query = '') => (await all.shop.call('GET', `/jobs${query}`)).body
/** A job of a kind that was given up, as the runner gives it up. */
async function givenUp(kind: string, error: unknown, subject = 'a'): Promise<string> {
  const clock = { ...realClock, now: () => all.app.clock.now }
  await inStore((tx) => enqueue(tx, { clock, now: clock.now().toISOString() }, { kind, subject, dueAt: clock.now().toISOString() }))
  const run: JobKind['run'] = async () => {
    throw error
  }
  const { registry, handles } = all.app
  await new Runner({ registry, handles, clock, log: createLog('silent'), kinds: { [kind]: { run, retriesMs: [] } } }).settle()
  const [row] = await inStore((tx) => tx.select().from(jobs).where(eq(jobs.subject, subject)))
  expect(row!.failedAt).not.toBeNull()
  return row!.id
}

describe('a job that was given up', () => {
  test('is listed with what went wrong, and its mail arrives once it was retried', async () => {
    const { app, shop, options, smtp } = all
    options.refuse = () => 451
    const { id } = await shop.buy({ items: [{ variantId: await shop.variant(), quantity: 1 }] })
    await app.jobs.settle()
    expect((await list()).data).toEqual([])
    const [waiting] = (await list('?state=waiting')).data
    expect(waiting).toMatchObject({
      ...{ kind: 'order.mail', subject: `order-confirmation ${id}`, state: 'waiting', attempts: 1, givenUpAt: null, retriable: false },
      error: expect.stringContaining('451'),
    })
    expect((await shop.call('POST', `/jobs/${waiting.id}/retry`)).body).toEqual({
      ...{ error: 'this job was not given up: it runs by itself', documentationUrl: expect.any(String) },
    })
    expect((await shop.call('DELETE', `/jobs/${waiting.id}`)).status).toBe(409)
    for (let day = 0; day < 3; day++)
      for (let i = 0; i < 4; i++) {
        app.clock.advance(DAY_MS / 3)
        await app.jobs.settle()
      }
    const given = await list()
    expect(given.meta).toEqual({ count: 1, offset: 0, limit: 50 })
    expect(given.data[0]).toMatchObject({
      id: waiting.id,
      state: 'given_up',
      attempts: 0,
      retriable: true,
      error: expect.stringContaining('451'),
    })
    expect(given.data[0].givenUpAt).toMatch(/Z$/)
    options.refuse = undefined
    const before = smtp.taken.length
    const retried = await shop.call('POST', `/jobs/${waiting.id}/retry`)
    expect([retried.status, retried.body.state, retried.body.error]).toEqual([202, 'waiting', null])
    await app.jobs.settle()
    expect(smtp.taken.slice(before)).toEqual(['ada@example.com'])
    expect([(await list()).data, (await list('?state=waiting')).data]).toEqual([[], []])
    expect((await shop.call('GET', `/jobs/${waiting.id}`)).status).toBe(404)
  })

  test('can be dropped, and then it is gone', async () => {
    const id = await givenUp('order.mail', new Told('not now'))
    expect((await all.shop.call('GET', `/jobs/${id}`)).body).toMatchObject({ id, state: 'given_up', error: 'not now' })
    expect((await all.shop.call('DELETE', `/jobs/${id}`)).body).toEqual({ ok: true, deleted: 1 })
    expect((await list()).meta.count).toBe(0)
    for (const [method, path] of [
      ['DELETE', `/jobs/${id}`],
      ['POST', `/jobs/${id}/retry`],
    ] as const)
      expect((await all.shop.call(method, path)).body).toEqual({ error: 'job not found', documentationUrl: expect.any(String) })
  })

  test('shows no merchant what tells of the server: paths, addresses, statements and the data in them', async () => {
    const secret = "connect ECONNREFUSED 10.0.0.5:25 in /srv/stoa/data, params: 'ada@example.com', store 01a1febd"
    const id = await givenUp('order.mail', new Error(secret))
    const answer = await all.shop.call('GET', `/jobs/${id}`)
    expect(answer.body.error).toMatch(/^it failed for a reason of this server/)
    for (const part of ['10.0.0.5', '/srv', 'ada@', '01a1febd']) expect(answer.body.error).not.toContain(part)
    // Whoever runs the server reads it.
    expect((await inStore((tx) => tx.select().from(jobs)))[0]!.error).toBe(secret)
  })

  test("of another store, or of the sandbox, is nobody else's", async () => {
    const id = await givenUp('order.mail', new Told('not now'))
    const other = await all.app.newStore()
    for (const key of [other.keys.admin, all.shop.keys.staging])
      for (const [method, path] of [
        ['GET', `/jobs/${id}`],
        ['POST', `/jobs/${id}/retry`],
        ['DELETE', `/jobs/${id}`],
      ] as const)
        expect([key, (await all.shop.call(method, path, undefined, { key })).status]).toEqual([key, 404])
    expect((await list()).meta.count).toBe(1)
  })

  test.each(Object.entries(endedKinds))('of the kind %s has ended what it was for: it is dropped, not retried', async (kind, instead) => {
    const id = await givenUp(kind, new Told('not now'))
    expect((await list()).data).toEqual([expect.objectContaining({ id, retriable: false })])
    const refused = await all.shop.call('POST', `/jobs/${id}/retry`)
    expect([refused.status, refused.body.error]).toEqual([409, `this job can't be retried, only dropped: ${instead}`])
    expect((await all.shop.call('DELETE', `/jobs/${id}`)).status).toBe(200)
  })

  test('that tells of its end by itself is of the kinds that are not retried, or does what is left when it is', () => {
    const telling = Object.entries(jobKinds(all.app.services))
      .filter(([, { givenUp: ends }]) => ends)
      .map(([kind]) => kind)
    // A preview closes what was built; a mail that is sent late says so where it stood; imports are withdrawn and never listed.
    const goOn = ['builder.preview', 'order.mail', 'order.tickets', 'support.mail', 'images.take-in']
    expect(telling.filter((kind) => !Object.hasOwn(endedKinds, kind)).toSorted()).toEqual(goOn.toSorted())
  })
})

test('a hundred that wait are listed a page at a time, by kind and when they are due', async () => {
  const row = (i: number) => ({
    ...{ id: Bun.randomUUIDv7(), kind: i % 2 ? 'order.mail' : 'order.tickets', subject: `s${i}`, attempts: 0, asked: 1 },
    ...{ dueAt: new Date(2e12 - i).toISOString(), createdAt: new Date(1e12).toISOString(), updatedAt: new Date(1e12).toISOString() },
  })
  await inStore((tx) => tx.insert(jobs).values(Array.from({ length: 100 }, (_, i) => row(i))))
  const pages = await Promise.all([0, 40, 80].map((offset) => list(`?state=waiting&limit=40&offset=${offset}`)))
  expect(pages.map(({ data, meta }) => [data.length, meta.count])).toEqual([
    [40, 100],
    [40, 100],
    [20, 100],
  ])
  const rows = pages.flatMap(({ data }) => data as { id: string; kind: string; dueAt: string }[])
  expect(new Set(rows.map(({ id }) => id)).size).toBe(100)
  expect(rows.map(({ kind, dueAt }) => `${kind} ${dueAt}`)).toEqual(rows.map(({ kind, dueAt }) => `${kind} ${dueAt}`).toSorted())
  expect((await list('?state=running')).meta.count).toBe(0)
  expect((await all.shop.call('GET', '/jobs?state=other')).status).toBe(400)
})
