import { appendFileSync, rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderOnDisk } from '../folder.ts'
import { ownTable, RateLimiter, TABLE_CELLS } from '../../api/server/rate-limit.ts'
import { sharedTable } from '../../db/shared-table.ts'

const at = (seconds: number) => BigInt(Math.round(seconds * 1e9)) + 1_000_000_000_000n
const taken = (limiter: RateLimiter, name: string, times: number, now: bigint) =>
  Array.from({ length: times }, () => limiter.take(name, now)).filter(({ retryAfterSeconds }) => retryAfterSeconds === 0).length

test('a burst, then as many per second as come back, never more than the burst', () => {
  const limiter = new RateLimiter({ perSecond: 10, burst: 20 })
  expect(taken(limiter, 'a', 30, at(0))).toBe(20)
  expect(taken(limiter, 'b', 30, at(0))).toBe(20)
  expect(taken(limiter, 'a', 30, at(0.5))).toBe(5)
  expect(taken(limiter, 'a', 30, at(0.55))).toBe(0)
  expect(taken(limiter, 'a', 30, at(0.6))).toBe(1)
  expect(taken(limiter, 'a', 30, at(1_000))).toBe(20)
})

test('what remains, when all is back, and how long to wait', () => {
  const limiter = new RateLimiter({ perSecond: 0.5, burst: 2 })
  expect(limiter.policy).toBe('"default";q=2;w=4')
  expect(limiter.take('a', at(0))).toEqual({ remaining: 1, resetSeconds: 2, retryAfterSeconds: 0 })
  expect(limiter.take('a', at(0))).toEqual({ remaining: 0, resetSeconds: 4, retryAfterSeconds: 0 })
  expect(limiter.take('a', at(0))).toEqual({ remaining: 0, resetSeconds: 4, retryAfterSeconds: 2 })
  expect(limiter.take('a', at(1.5))).toEqual({ remaining: 0, resetSeconds: 3, retryAfterSeconds: 1 })
  expect(limiter.take('a', at(2))).toEqual({ remaining: 0, resetSeconds: 4, retryAfterSeconds: 0 })
})

test('extreme rates neither overflow nor let nothing through', () => {
  const slow = new RateLimiter({ perSecond: 0.001, burst: 9_999_999 })
  expect(taken(slow, 'a', 1_000, at(0))).toBe(1_000)
  const fast = new RateLimiter({ perSecond: 9_999_999, burst: 1 })
  expect([taken(fast, 'a', 2, at(0)), taken(fast, 'a', 2, at(0.001))]).toEqual([1, 1])
})

test('more names than cells: a name that was used up is forgotten only for names used more', () => {
  const limiter = new RateLimiter({ perSecond: 1, burst: 5 })
  expect(taken(limiter, 'spent', 5, at(0))).toBe(5)
  for (let i = 0; i < 100_000; i++) limiter.take(`key-${i}`, at(0))
  expect(limiter.take('spent', at(0)).retryAfterSeconds).toBe(1)
})

test('after the clock was set back a bucket limits nobody for longer than a full window', () => {
  const table = ownTable()
  const rate = { perSecond: 1, burst: 5 }
  expect(taken(new RateLimiter(rate, table), 'a', 9, at(5_000))).toBe(5)
  expect(taken(new RateLimiter(rate, table), 'a', 9, at(0))).toBe(5)
})

test('a table in a file is shared, is for this user alone, and keeps its size', () => {
  const folder = folderOnDisk('rates')
  try {
    const path = join(folder, 'rate-limits')
    const rate = { perSecond: 1, burst: 10 }
    const [one, other] = [new RateLimiter(rate, sharedTable(path, TABLE_CELLS)), new RateLimiter(rate, sharedTable(path, TABLE_CELLS))]
    expect([taken(one, 'a', 6, at(0)), taken(other, 'a', 6, at(0)), taken(one, 'a', 6, at(0))]).toEqual([6, 4, 0])
    const { mode, size, blocks } = statSync(path)
    expect([mode & 0o777, size]).toEqual([0o600, 1_048_576])
    // All of it is on the disk: a page without a place there would end the process once the disk is full.
    expect(blocks * 512).toBeGreaterThanOrEqual(size)
    appendFileSync(path, 'more than a table')
    expect(taken(new RateLimiter(rate, sharedTable(path, TABLE_CELLS)), 'a', 6, at(0))).toBe(0)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a file with holes is filled, and keeps what was counted', () => {
  const folder = folderOnDisk('rates')
  try {
    const [whole, sparse] = [join(folder, 'whole'), join(folder, 'sparse')]
    const rate = { perSecond: 1, burst: 10 }
    expect(taken(new RateLimiter(rate, sharedTable(whole, TABLE_CELLS)), 'a', 6, at(0))).toBe(6)
    expect(Bun.spawnSync(['cp', '--sparse=always', whole, sparse]).exitCode).toBe(0)
    expect(statSync(sparse).blocks * 512).toBeLessThan(100_000)
    expect(taken(new RateLimiter(rate, sharedTable(sparse, TABLE_CELLS)), 'a', 6, at(0))).toBe(4)
    expect(statSync(sparse).blocks * 512).toBeGreaterThanOrEqual(1_048_576)
    truncateSync(sparse, 4_096)
    sharedTable(sparse, TABLE_CELLS)
    expect(statSync(sparse)).toMatchObject({ size: 1_048_576 })
    expect(statSync(sparse).blocks * 512).toBeGreaterThanOrEqual(1_048_576)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('processes that take from new buckets at the same instant get exactly the burst together', async () => {
  const folder = folderOnDisk('rates')
  const [NAMES, TRIES, BURST, ROUNDS] = [200, 40, 20, 4]
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const path = join(folder, String(round))
      sharedTable(path, TABLE_CELLS)
      const startsAt = Date.now() + 400
      const child = join(import.meta.dirname, 'rate-limit-child.ts')
      const children = [1, 2, 3].map(() =>
        Bun.spawn([process.execPath, child, path, ...[startsAt, NAMES, TRIES, BURST].map(String)], { stdout: 'pipe', stderr: 'inherit' }),
      )
      const got = await Promise.all(children.map(async ({ stdout }) => (await new Response(stdout).json()) as number[]))
      expect(Array.from({ length: NAMES }, (_, n) => got.reduce((sum, mine) => sum + mine[n]!, 0))).toEqual(Array(NAMES).fill(BURST))
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}, 30_000)
