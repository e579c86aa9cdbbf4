import { expect, test } from 'vitest'
import { ANALYSES_MAX, Busy, Desk, SLOW_MAX } from '../../site/analyses/desk.ts'

const url = (n: number | string = 1) => new URL(`https://shop.com/${n}`)
const never = new AbortController().signal

test('the same is made once for all who ask meanwhile, and given again for ten minutes', async () => {
  let now = 1_000_000
  const desk = new Desk(() => now)
  let made = 0
  const waits = Promise.withResolvers<object>()
  const make = () => (made++, waits.promise)
  const asked = [1, 2, 3].map(() => desk.ask('store-scan', url(), never, make))
  waits.resolve({ n: 1 })
  expect(await Promise.all(asked)).toEqual(Array(3).fill({ report: { n: 1 }, ageSeconds: null }))
  expect(made).toBe(1)
  now += 599_999
  expect(await desk.ask('store-scan', url(), never, make)).toEqual({ report: { n: 1 }, ageSeconds: 599 })
  // Another operation, or another address, is something else.
  await desk.ask('fetch-page-meta', url(), never, make)
  await desk.ask('store-scan', url(2), never, make)
  expect(made).toBe(3)
  now += 1
  await desk.ask('store-scan', url(), never, make)
  expect(made).toBe(4)
})

test('what failed is tried again', async () => {
  const desk = new Desk()
  let made = 0
  const fail = () => (made++, Promise.reject(new Error('silent')))
  for (let i = 0; i < 2; i++) await expect(desk.ask('store-scan', url(), never, fail)).rejects.toThrow('silent')
  expect(made).toBe(2)
})

test('as many at once as may be; those who wait for one of them take no place', async () => {
  const desk = new Desk()
  const waits = Promise.withResolvers<object>()
  const all = Array.from({ length: ANALYSES_MAX }, (_, i) => desk.ask('store-scan', url(i), never, () => waits.promise))
  await expect(desk.ask('store-scan', url('more'), never, () => waits.promise)).rejects.toThrow(Busy)
  // Those that take a minute leave room for those that take a second.
  const other = new Desk()
  const slow = Array.from({ length: SLOW_MAX }, (_, i) => other.ask('pagespeed', url(i), never, () => waits.promise))
  await expect(other.ask('pagespeed', url('more'), never, () => waits.promise)).rejects.toThrow(Busy)
  expect((await other.ask('store-scan', url('more'), never, async () => ({}))).ageSeconds).toBeNull()
  const joined = desk.ask('store-scan', url(3), never, () => waits.promise)
  waits.resolve({})
  await Promise.all([...all, ...slow, joined])
  expect((await desk.ask('store-scan', url('more'), never, async () => ({ n: 2 }))).report).toEqual({ n: 2 })
})

test('it ends when the last one who wanted it is gone, and not before', async () => {
  const desk = new Desk()
  let ended = false
  const make = (signal: AbortSignal) =>
    new Promise<object>((_, reject) =>
      signal.addEventListener('abort', () => {
        ended = true
        reject(new Error('ended'))
      }),
    )
  const [first, second] = [new AbortController(), new AbortController()]
  const asked = [first, second].map(({ signal }) => desk.ask('pagespeed', url(), signal, make).catch((error) => String(error)))
  first.abort(new Error('gone'))
  expect(await asked[0]).toBe('Error: gone')
  expect(ended).toBe(false)
  second.abort(new Error('gone'))
  expect(await asked[1]).toBe('Error: gone')
  expect(ended).toBe(true)
  // Its place is free, and the next one to ask begins anew.
  expect((await desk.ask('pagespeed', url(), never, async () => ({ n: 1 }))).report).toEqual({ n: 1 })
})

test('what is kept is bounded: the oldest goes first', async () => {
  const desk = new Desk()
  const big = { text: 'x'.repeat(300_000) }
  let made = 0
  const make = async () => (made++, big)
  for (let i = 0; i < 40; i++) await desk.ask('store-scan', url(i), never, make)
  made = 0
  await desk.ask('store-scan', url(39), never, make)
  expect(made).toBe(0)
  await desk.ask('store-scan', url(0), never, make)
  expect(made).toBe(1)
  // One that would push all others out is not kept at all.
  await desk.ask('store-scan', url('huge'), never, async () => ({ text: 'x'.repeat(1_000_000) }))
  await desk.ask('store-scan', url(38), never, make)
  expect(made).toBe(1)
})
