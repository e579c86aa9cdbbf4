/** A process that hangs without dying: what it holds, such as the lock of a store, is held from the others until it is ended. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Kept } from '../../scripts/kept.ts'

const DEADLINE_MS = 60_000

/** Starts a process that is to say something each second; `pids` are those that have listened so far. */
async function keep(env: Record<string, string>) {
  const pids: number[] = []
  const { PATH } = process.env
  const kept = new Kept<{ alive: true }>({
    name: 'a test',
    file: join(import.meta.dirname, 'kept-child.ts'),
    env: () => ({ PATH, ...env }),
    endMaxMs: 0,
    saysEachMs: 1_000,
    began: ({ pid }) => void pids.push(pid),
  })
  await kept.start(1)
  return { pids, stop: () => kept.stop() }
}

test('a process that hangs is ended and another one started; one that says that it is there goes on', async () => {
  const [hangs, says] = [await keep({}), await keep({ SAYS: '1' })]
  try {
    const [first] = hangs.pids
    for (const deadline = performance.now() + DEADLINE_MS; hangs.pids.length < 2; await Bun.sleep(50))
      if (performance.now() > deadline) throw new Error('it still hangs')
    expect(() => process.kill(first!, 0)).toThrow(/ESRCH/)
    expect(says.pids).toHaveLength(1)
  } finally {
    await Promise.all([hangs.stop(), says.stop()])
  }
}, 90_000)
