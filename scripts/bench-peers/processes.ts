/**
 * The programs of the peers: each in a process group of its own, so that it ends with all that it started itself, and that an interrupt
 * from the keyboard reaches the bench alone. Nothing else is ever signalled.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'

const STOP_MAX_MS = 10_000
const POLL_MS = 50
/** What is shown of the log of a program that failed. */
const LOG_SHOWN = 1_500

interface Program {
  command: readonly string[]
  cwd: string
  env: Record<string, string>
  /** The file that takes what it prints. */
  log: string
  maxMs: number
  /** Whom it runs as, where that is not who runs the bench. */
  user?: { uid: number; gid: number }
  /** What ends it, each when the one before did not. */
  signals?: readonly NodeJS.Signals[]
}

/** A program that goes on. */
export interface Running {
  pid: number
  stop(): Promise<void>
}

interface Started {
  child: ChildProcess
  exited: Promise<void>
  signals: readonly NodeJS.Signals[]
}

const started = new Set<Started>()
let isEnding = false

/** Throws once the run is being ended: nothing may be started any more. */
export function requireGoing() {
  if (isEnding) throw new Error('the run was ended')
}

/** Waits for something, but not longer than this; tells whether it came. */
async function within(promise: Promise<unknown>, maxMs: number): Promise<boolean> {
  const { promise: overdue, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), maxMs)
  return Promise.race([promise.then(() => true), overdue]).finally(() => clearTimeout(timer))
}

const isOver = ({ child }: Started) => child.exitCode !== null || child.signalCode !== null || child.pid === undefined

/** Signals the group of a program; one that ended just now has none. */
function signal({ child }: Started, name: NodeJS.Signals) {
  try {
    process.kill(-child.pid!, name)
  } catch (error) {
    if ((error as { code?: string }).code !== 'ESRCH') throw error
  }
}

async function end(one: Started) {
  for (const name of one.signals) {
    if (isOver(one)) break
    signal(one, name)
    if (await within(one.exited, STOP_MAX_MS)) break
  }
  started.delete(one)
}

/** Ends what still runs, the newest first: a server before its database. No other is started from now on. */
export async function endPeers() {
  isEnding = true
  for (const one of [...started].reverse()) await end(one)
}

function start({ command: [name, ...args], cwd, env, log, user, signals = ['SIGTERM', 'SIGKILL'] }: Program): Started {
  requireGoing()
  const output = openSync(log, 'w')
  const child = spawn(name!, args, { cwd, env, stdio: ['ignore', output, output], detached: true, ...user })
  closeSync(output)
  const { promise: exited, resolve } = Promise.withResolvers<void>()
  child.once('exit', () => resolve()).once('error', () => resolve())
  const one = { child, exited, signals }
  started.add(one)
  return one
}

function failure({ command, log }: Program, what: string): Error {
  const said = readFileSync(log, 'utf8').trimEnd()
  return new Error(`${command.slice(0, 4).join(' ')} ${what}; the end of ${log}:\n${said.slice(-LOG_SHOWN)}`)
}

/** Runs a program to its end. Throws when it fails or takes too long. */
export async function finish(program: Program) {
  const one = start(program)
  const isDone = await within(one.exited, program.maxMs)
  await end(one)
  requireGoing()
  if (!isDone) throw failure(program, `was not done after ${program.maxMs / 1000} s`)
  if (one.child.exitCode !== 0) throw failure(program, `failed (${one.child.exitCode ?? one.child.signalCode ?? 'not started'})`)
}

/** Starts a server; it is there when `isUp` says so. Throws when it ends before that or takes too long. */
export async function serve(program: Program, isUp: () => Promise<boolean>): Promise<Running> {
  const one = start(program)
  const untilMs = performance.now() + program.maxMs
  while (!(await isUp())) {
    requireGoing()
    const late = performance.now() > untilMs
    if (!late && !isOver(one)) {
      await Bun.sleep(POLL_MS)
      continue
    }
    await end(one)
    throw failure(program, late ? `gave no answer for ${program.maxMs / 1000} s` : 'ended before it answered')
  }
  return { pid: one.child.pid!, stop: () => end(one) }
}

/** Whether a server answers a path with success. */
export const answers = (port: number, path: string) => async () =>
  fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(5_000) }).then(
    (response) => response.ok,
    () => false,
  )

/** A port that nothing listens on now. */
export function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = listener
  listener.stop(true)
  return port
}
