import { join } from 'node:path'
import { expect, test } from 'vitest'
import { guess } from '../../api/server/guesses.ts'
import { GUESSES_RATE, RateLimiter, TABLE_CELLS } from '../../api/server/rate-limit.ts'
import { Refusal } from '../../api/values/refusal.ts'
import { sharedTable } from '../../db/shared-table.ts'
import { folderOnDisk } from '../folder.ts'

/** A look that takes its time, as one at a database far away does. */
const looking =
  <T>(found: T | null) =>
  async () => {
    await Bun.sleep(20)
    return found
  }
const table = () => sharedTable(join(folderOnDisk('guesses'), 'guess-limits'), TABLE_CELLS)
/** What came of guesses that were all begun at once. */
async function outcomes<T>(guesses: readonly Promise<T | null>[]) {
  const settled = await Promise.allSettled(guesses)
  const refused = settled.filter((one) => one.status === 'rejected')
  for (const { reason } of refused) expect(reason).toMatchObject({ status: 429, headers: { 'retry-after': expect.any(String) } })
  return { looked: settled.length - refused.length, refused: refused.length }
}

test('of 240 wrong guesses at once, in two processes that count together, 20 are looked at', async () => {
  const shared = table()
  const limiters = [new RateLimiter(GUESSES_RATE, shared), new RateLimiter(GUESSES_RATE, shared)]
  const at = (subject: (n: number) => string, client: string) =>
    Array.from({ length: 240 }, (_, n) => guess({ limiter: limiters[n % 2]!, names: [subject(n), client] }, looking(null)))
  expect(await outcomes(at((n) => `secret ${n}`, 'one client'))).toEqual({ looked: 20, refused: 220 })
  // Nobody is charged for what was refused to another.
  expect(await outcomes(at(() => 'one secret', 'another client'))).toEqual({ looked: 20, refused: 220 })
  expect(await outcomes([guess({ limiter: limiters[0]!, names: ['secret 100', 'a third one'] }, looking('found'))])).toEqual({
    looked: 1,
    refused: 0,
  })
})

test('right guesses are given back, as are those that could not be looked at; a wrong one is not', async () => {
  const limiter = new RateLimiter({ perSecond: 0.001, burst: 3 })
  const one = <T>(look: () => Promise<T | null>) => guess({ limiter, names: ['secret', 'client'] }, look)
  for (let n = 0; n < 20; n++) expect(await one(async () => 'found')).toBe('found')
  for (let n = 0; n < 20; n++) await expect(one(() => Promise.reject(new Error('busy')))).rejects.toThrow('busy')
  for (let n = 0; n < 3; n++) expect(await one(async () => null)).toBeNull()
  await expect(one(async () => 'found')).rejects.toBeInstanceOf(Refusal)
})

test('right guesses wait for each other, and none is refused, however many come at once', async () => {
  const limiter = new RateLimiter({ perSecond: 0.001, burst: 3 })
  const right = Array.from({ length: 60 }, () => guess({ limiter, names: ['secret', 'client'] }, looking('found')))
  expect(await outcomes(right)).toEqual({ looked: 60, refused: 0 })
  const mixed = Array.from({ length: 60 }, (_, n) => guess({ limiter, names: [`${n}`, 'client'] }, looking(n % 2 ? 'found' : null)))
  const settled = await Promise.allSettled(mixed)
  expect(settled.filter((one) => one.status === 'fulfilled' && one.value === null).length).toBe(3)
})

test('a bucket is never fuller than full by what is given back', () => {
  const limiter = new RateLimiter({ perSecond: 0.001, burst: 2 })
  limiter.take('a')
  for (let n = 0; n < 5; n++) limiter.giveBack('a')
  limiter.giveBack('b')
  const took = (name: string) =>
    Array.from({ length: 5 }, () => limiter.take(name)).filter(({ retryAfterSeconds }) => !retryAfterSeconds).length
  expect([took('a'), took('b')]).toEqual([2, 2])
})

test('without a limiter all are looked at', async () => {
  expect(await outcomes(Array.from({ length: 50 }, () => guess({ limiter: null, names: ['a'] }, looking(null))))).toEqual({
    looked: 50,
    refused: 0,
  })
})
