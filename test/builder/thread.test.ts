import { expect, test } from 'vitest'
import { Overdue, Thread } from '../../api/server/thread.ts'

const FILE = new URL('thread-child.ts', import.meta.url).pathname

test('a thread that is held up by one thing is ended with it, and the next has a new one', async () => {
  const thread = new Thread<string, string>(FILE, { timeMaxMs: 1_000, idleMaxMs: 100 })
  expect(await thread.ask('a')).toBe('a')
  let ticks = 0
  const ticking = setInterval(() => ticks++, 10)
  await expect(thread.ask('hang')).rejects.toBeInstanceOf(Overdue)
  clearInterval(ticking)
  expect(ticks).toBeGreaterThan(20)
  expect(await thread.ask('b')).toBe('b')
  await expect(thread.ask('throw')).rejects.toThrow('on purpose')
  expect(await thread.ask('c')).toBe('c')
  // One with nothing to do goes, and comes again.
  await Bun.sleep(300)
  expect(await thread.ask('d')).toBe('d')
})
