/**
 * Whether this process should get requests: what `/readyz` tells. A disk that is full or fails is tried again each time that
 * somebody asks, so that it gets requests again without a restart.
 */
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import type { Handles } from '../../db/handles.ts'
import { troubleOf, type Trouble } from '../../db/errors.ts'
import type { Environment, Handle } from '../../db/open.ts'
import { counters } from '../../db/store/store.ts'
import type { Log } from './log.ts'

/** However often it is asked for, the disk is tried once in this time. */
const AGAIN_MS = 1_000
/** A disk that takes longer than this to write a little has failed. */
const TRIAL_MAX_MS = 5_000
/** As much as a small request writes. */
const TRIAL = new Uint8Array(65_536)
/** As many stores are tried as one look can; where more are in trouble, so are these. */
const STORES_MAX = 4

interface Owner {
  storeId: string
  environment: Environment
}

const WORDS: Record<Trouble['kind'], string> = {
  full: 'the disk is full',
  failing: "the disk can't be read or written",
  damaged: "a store's database is damaged",
}
const inWords = (error: unknown) => {
  const trouble = troubleOf(error)
  return trouble ? `${WORDS[trouble.kind]} (${trouble.code})` : `the disk can't be written (${(error as Error).message})`
}

/** Writes to a store, and leaves it as it was. */
const tryStore = (store: Handle) =>
  store.write(async (tx) => {
    await tx.insert(counters).values({ name: 'readiness', value: 1 }).onConflictDoNothing()
    await tx.delete(counters).where(eq(counters.name, 'readiness'))
  })

async function tryFolder(folder: string) {
  const path = join(folder, `.ready-${process.pid}`)
  try {
    const file = await open(path, 'w', 0o600)
    try {
      await file.writeFile(TRIAL)
      await file.sync()
    } finally {
      await file.close()
    }
  } finally {
    await rm(path, { force: true })
  }
}

interface ReadinessNeeds {
  handles: Handles
  /** Where databases and other data are kept: no request is of use while these can't be written. */
  folders: readonly string[]
  log: Log
}

export class Readiness {
  /** Stores that a request could not write to, until they can be written again. */
  readonly #troubled = new Map<string, Owner>()
  #last: { at: number; problem: Promise<string | null> } | undefined

  constructor(readonly needs: ReadinessNeeds) {}

  /** Takes notice of what broke a request off, and tells the log. */
  note(trouble: Trouble, requestId: string, owner: Owner | null) {
    const { storeId, environment } = owner ?? {}
    this.needs.log.write('warn', WORDS[trouble.kind], { error: trouble.code, storeId, environment, requestId })
    // One damaged store is no reason to keep requests from all others.
    const key = `${storeId} ${environment}`
    if (!owner || trouble.kind === 'damaged' || this.#troubled.has(key) || this.#troubled.size >= STORES_MAX) return
    this.#troubled.set(key, owner)
    this.#last = undefined
  }

  /** The reason why this process can't work, in words; null when it can. */
  problem(): Promise<string | null> {
    const now = performance.now()
    if (!this.#last || now - this.#last.at > AGAIN_MS) {
      const late = Bun.sleep(TRIAL_MAX_MS).then(() => 'the disk does not answer')
      this.#last = { at: now, problem: Promise.race([this.#look(), late]) }
    }
    return this.#last.problem
  }

  async #look(): Promise<string | null> {
    for (const folder of this.needs.folders)
      try {
        await tryFolder(folder)
      } catch (error) {
        return inWords(error)
      }
    for (const [key, { storeId, environment }] of this.#troubled)
      try {
        await this.needs.handles.visit(storeId, environment, tryStore)
        this.#troubled.delete(key)
      } catch (error) {
        const trouble = troubleOf(error)
        if (trouble && trouble.kind !== 'damaged') return inWords(error)
        this.#troubled.delete(key)
      }
    return null
  }
}
