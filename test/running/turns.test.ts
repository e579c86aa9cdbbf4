/** Turns of processes at writing one file: real processes that wait, and a writer whose neighbours are the test's. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { FileConnection } from '../../db/connection.ts'
import { shareTurns, turnsAt, type Turns } from '../../db/turns.ts'
import { fileTransactions, Writer } from '../../db/writer.ts'
import { folderOnDisk } from '../folder.ts'

let folder: string
let file: string
const children = new Set<Bun.Subprocess>()
beforeAll(() => {
  folder = folderOnDisk('turns')
  file = join(folder, 'store-1.db')
  shareTurns(file)
})
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  children.clear()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A process that waits for its turn; `says` resolves with the next line of it. */
async function waiter() {
  const child = Bun.spawn([process.execPath, join(import.meta.dirname, 'turns-child.ts'), file], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.add(child)
  const reader = child.stdout.getReader()
  const says = async () => new TextDecoder().decode((await reader.read()).value)
  expect(await says()).toBe('waits\n')
  return { says, child }
}
/** Has the next process woken that waits; this one has told its own port by then. */
async function pass(): Promise<boolean> {
  const turns = turnsAt(file)
  turns.join()
  await Bun.sleep(100)
  turns.leave()
  return turns.pass()
}

test('those that wait are woken one after the other, each once', async () => {
  const [first, second] = [await waiter(), await waiter()]
  expect(await pass()).toBe(true)
  const woken = await Promise.race([first.says().then(() => first), second.says().then(() => second)])
  const other = woken === first ? second : first
  expect(await pass()).toBe(true)
  await other.child.exited
  expect(await pass()).toBe(false)
})

test('files have their own turns', async () => {
  const { says } = await waiter()
  expect(turnsAt(join(folder, 'store-2.db')).pass()).toBe(false)
  expect(await pass()).toBe(true)
  expect(await says()).toBe('woken\n')
})

test('a process that was killed while it waited is given way to once', async () => {
  const { child } = await waiter()
  child.kill('SIGKILL')
  await child.exited
  expect([await pass(), await pass()]).toEqual([true, false])
})

/** A writer of a file, with a table of numbers in it. */
function writing(name: string, turns: Turns) {
  const connection = new FileConnection(join(folder, name))
  connection.exec('create table if not exists numbers (n integer)')
  const writer = new Writer(
    fileTransactions(
      () => connection,
      () => {},
    ),
    undefined,
    turns,
  )
  return { connection, write: (n: number) => writer.write(async (tx) => tx.run(`insert into numbers values (${n})`)) }
}

test('a writer with more to write lets another process have its turn after each commit', async () => {
  const now = Promise.withResolvers<void>()
  let [told, written] = [0, 0]
  const turns: Turns = { join: () => true, leave() {}, pass: () => ++told === 1, wait: () => now.promise }
  const { connection, write } = writing('gives-way.db', turns)
  const all = Promise.all(Array.from({ length: 200 }, (_, n) => write(n).then(() => written++)))
  while (!told) await Bun.sleep(5)
  await Bun.sleep(50)
  const atCommit = written
  // Another process could not write if the lock were held.
  const other = new FileConnection(join(folder, 'gives-way.db'))
  other.exec('insert into numbers values (1000)')
  expect([atCommit > 0, atCommit < 200, written]).toEqual([true, true, atCommit])
  now.resolve()
  await all
  expect(connection.rows('select rowid from numbers where n = 1000', [])).toEqual([[atCommit + 1]])
  other.close()
  connection.close()
})

test('a writer that finds the file locked tells so, sleeps until its turn, and tells that it waits no more', async () => {
  const said: string[] = []
  let now = Promise.withResolvers<void>()
  const turns: Turns = {
    join: () => (said.push('joins'), true),
    leave: () => void said.push('leaves'),
    pass: () => false,
    wait: () => (said.push('waits'), now.promise),
  }
  const { connection, write } = writing('locked.db', turns)
  const other = new FileConnection(join(folder, 'locked.db'))
  other.exec('begin immediate')
  const written = write(1)
  while (!said.includes('waits')) await Bun.sleep(5)
  // It has tried once more after it had told: who holds the lock may have let go of it without knowing.
  expect(said).toEqual(['joins', 'joins', 'waits'])
  other.exec('rollback')
  now.resolve()
  await written
  expect(said.slice(3)).toEqual(['leaves'])
  other.close()
  connection.close()
})
