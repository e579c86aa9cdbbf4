/**
 * Turns at writing: the processes of a machine that wait to write a file are told of in a table that they share, and whoever has written
 * wakes the next of them with a datagram. SQLite's lock alone says who writes. This says who tries, so that nobody sleeps while the lock is
 * free, and nobody takes it again and again while others wait; one that has died or hangs is waited for once, for milliseconds.
 */
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { udp } from 'bun'
import { sharedTable } from './shared-table.ts'

/** The name of the table, in the folder of the databases. */
const TABLE = 'write-turns'
/** Processes that can be told of; any more look again and again, as all do where there is no table. */
const PROCESSES = 64
/** Rows of the table. Files whose names fall together wake each other in vain now and then. */
const ROWS = 512
const PROCESS_BYTES = 2 * Int32Array.BYTES_PER_ELEMENT
const CELLS = (PROCESSES * PROCESS_BYTES + ROWS * PROCESSES) / BigInt64Array.BYTES_PER_ELEMENT

/** Those of this process that sleep until it is the turn of their row. */
const sleepers = new Map<number, Set<() => void>>()
let socket: udp.Socket<'buffer'> | null = null
let opening: Promise<unknown> | undefined

/** Opens the socket that wakes this process. Where that can't be done, those that wait look again by themselves. */
function listen(): Promise<unknown> {
  const data = (_: unknown, message: Buffer) => {
    if (message.length === 2) for (const wake of sleepers.get(message.readUInt16LE()) ?? []) wake()
  }
  return (opening ??= Bun.udpSocket({ hostname: '127.0.0.1', port: 0, socket: { data, error() {} } }).then(
    (opened) => {
      opened.unref()
      socket = opened
    },
    () => {},
  ))
}

/** Whether a process has certainly ended. */
function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as { code?: string }).code === 'ESRCH'
  }
}

/** The table of one folder. */
class Table {
  /** A number and a port for each process. */
  readonly #processes: Int32Array
  /** For each row a byte for each process: 1 for one that waits. */
  readonly #waiting: Uint8Array
  /** The place of this process; null before it has waited for the first time, and when there was none free. */
  #own: number | null = null
  #asked = false

  constructor({ buffer, byteOffset }: BigInt64Array) {
    this.#processes = new Int32Array(buffer, byteOffset, 2 * PROCESSES)
    this.#waiting = new Uint8Array(buffer, byteOffset + PROCESSES * PROCESS_BYTES, ROWS * PROCESSES)
  }

  /** Takes a place that is free or was of a process that has ended, once. */
  #enter() {
    if (this.#asked) return
    this.#asked = true
    for (let i = 0; i < PROCESSES && this.#own === null; i++) {
      const pid = Atomics.load(this.#processes, 2 * i)
      if (pid !== 0 && !isGone(pid)) continue
      if (Atomics.compareExchange(this.#processes, 2 * i, pid, process.pid) === pid) this.#own = i
    }
    if (this.#own === null) return
    Atomics.store(this.#processes, 2 * this.#own + 1, 0)
    void listen().then(() => Atomics.store(this.#processes, 2 * this.#own! + 1, socket?.port ?? 0))
  }

  /** Tells that this process waits; false when there is no place for it. */
  join(row: number): boolean {
    this.#enter()
    if (this.#own === null) return false
    Atomics.store(this.#waiting, row * PROCESSES + this.#own, 1)
    return true
  }

  leave(row: number) {
    if (this.#own !== null) Atomics.store(this.#waiting, row * PROCESSES + this.#own, 0)
  }

  /** Wakes the next process that waits, in turn; whether there is one. It has to tell anew when it comes too late. */
  pass(row: number): boolean {
    const own = this.#own ?? 0
    for (let k = this.#own === null ? 0 : 1; k < PROCESSES; k++) {
      const next = (own + k) % PROCESSES
      if (!Atomics.load(this.#waiting, row * PROCESSES + next)) continue
      Atomics.store(this.#waiting, row * PROCESSES + next, 0)
      const port = Atomics.load(this.#processes, 2 * next + 1)
      const message = Buffer.allocUnsafe(2)
      message.writeUInt16LE(row)
      if (socket && port) socket.send(message, port, '127.0.0.1')
      else void listen()
      return true
    }
    return false
  }
}

/** What a writer knows of the other processes. */
export interface Turns {
  /** Tells that this process waits; false when nobody would know. */
  join(): boolean
  /** Sleeps until it is this process's turn, and no longer than so many ms. */
  wait(ms: number): Promise<void>
  /** It waits no more. */
  leave(): void
  /** Wakes the next process that waits; whether there is one. */
  pass(): boolean
}

/** Turns where there are no other processes, or none that are known. */
export const noTurns: Turns = { join: () => false, wait: (ms) => Bun.sleep(ms), leave() {}, pass: () => false }

const tables = new Map<string, Table>()

/** Makes the table of the folder that `file` is in, for all processes that open files of it from now on. Throws when it can't be written. */
export function shareTurns(file: string) {
  const path = join(dirname(file), TABLE)
  if (!tables.has(path)) tables.set(path, new Table(sharedTable(path, CELLS)))
}

/** Takes the table that a server has made in the folder of a file, if it can be used. */
function findTable(file: string) {
  try {
    if (existsSync(join(dirname(file), TABLE))) shareTurns(file)
  } catch {
    /* it is of another user, perhaps */
  }
}

/** Sleeps until somebody says that it is a row's turn, for so many ms at most. */
const sleep = (row: number, ms: number) =>
  new Promise<void>((resolve) => {
    const line = sleepers.get(row) ?? new Set()
    sleepers.set(row, line)
    const wake = () => {
      clearTimeout(timer)
      line.delete(wake)
      if (line.size === 0) sleepers.delete(row)
      resolve()
    }
    const timer = setTimeout(wake, ms)
    line.add(wake)
  })

/** The turns at writing a file: there are none before a server has made their table. */
export function turnsAt(file: string): Turns {
  findTable(file)
  const path = join(dirname(file), TABLE)
  const row = Bun.hash.crc32(basename(file)) % ROWS
  return {
    join: () => tables.get(path)?.join(row) ?? false,
    leave: () => tables.get(path)?.leave(row),
    pass: () => tables.get(path)?.pass(row) ?? false,
    wait: (ms) => sleep(row, ms),
  }
}
