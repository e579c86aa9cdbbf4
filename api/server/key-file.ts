/**
 * The file of the key that is made where `SECRET_KEY` is not set: its first line is the key, those below it are the keys before, which open
 * what they have sealed until nothing needs them. Servers that run see within a second that it has changed.
 */
import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { secretsWith, type Secrets } from '../outside/secrets.ts'

export const KEY_FILE = 'secret.key'
/** So often a server looks whether the file has changed. */
export const LOOK_MS = 1_000
/** More than anybody rotates before nothing needs the first. */
const KEYS_MAX = 10

const newKey = () => randomBytes(32).toString('hex')

/** The keys in the data folder, made at the first start for this user's eyes alone. Of processes that start at once, one makes it. */
export function keysIn(dataDir: string): string[] {
  const path = join(dataDir, KEY_FILE)
  const known = keysOf(path)
  if (known !== null) return known
  const own = written(path, [newKey()])
  try {
    linkSync(own, path)
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  } finally {
    rmSync(own)
  }
  return keysOf(path)!
}

function written(path: string, keys: readonly string[]): string {
  const own = `${path}.${process.pid}`
  writeFileSync(own, `${keys.join('\n')}\n`, { mode: 0o600, flush: true })
  return own
}

function keysOf(path: string): string[] | null {
  let text: string
  try {
    text = readFileSync(path, 'utf8').trim()
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'ENOENT') return null
    throw new Error(`${path} can't be read (${code}): let this user read it, or set SECRET_KEY`)
  }
  const keys = text.split('\n')
  if (keys.length > KEYS_MAX || !keys.every((key) => /^[0-9a-f]{64}$/.test(key)))
    throw new Error(`${path} is damaged: put back a copy of it, or set SECRET_KEY`)
  return keys
}

/** Makes a new key in the file, before those that it has. */
export function addKey(dataDir: string) {
  const keys = keysIn(dataDir)
  if (keys.length === KEYS_MAX) throw new Error(`${join(dataDir, KEY_FILE)} has ${KEYS_MAX} keys: run stoa secrets forget first`)
  replace(dataDir, [newKey(), ...keys])
}

/** Forgets all keys of the file but the newest; how many that were. */
export function forgetKeys(dataDir: string): number {
  const [newest, ...before] = keysIn(dataDir)
  if (before.length) replace(dataDir, [newest!])
  return before.length
}

/** A crash leaves the file as it was, or as it is to be. */
function replace(dataDir: string, keys: readonly string[]) {
  const path = join(dataDir, KEY_FILE)
  renameSync(written(path, keys), path)
}

/** Seals with the newest key of the file, and follows it as it changes; `before` are keys that open, too. */
export function secretsIn(dataDir: string, before: readonly string[]): Secrets {
  const path = join(dataDir, KEY_FILE)
  const read = () => secretsWith(...(keysIn(dataDir) as [string, ...string[]]), ...before)
  const stampOf = () => {
    const { ino, mtimeMs } = statSync(path)
    return `${ino} ${mtimeMs}`
  }
  let [secrets, at] = [read(), performance.now()]
  let stamp = stampOf()
  const now = () => {
    if (performance.now() - at < LOOK_MS) return secrets
    at = performance.now()
    try {
      const found = stampOf()
      if (found !== stamp) [secrets, stamp] = [read(), found]
    } catch {
      // A file that is away for a moment changes nothing: the keys at hand stay.
    }
    return secrets
  }
  return { seal: (value, place) => now().seal(value, place), open: (sealed, place) => now().open(sealed, place) }
}

interface KeyConfig {
  dataDir: string
  secretKey: string | null
  secretKeysOld: readonly string[]
}

/** The secrets of a configuration. */
export const secretsOf = ({ dataDir, secretKey, secretKeysOld }: KeyConfig): Secrets =>
  secretKey === null ? secretsIn(dataDir, secretKeysOld) : secretsWith(secretKey, ...secretKeysOld)

/** What the newest key alone opens, and whether there are others. */
export function newestOf({ dataDir, secretKey, secretKeysOld }: KeyConfig): { newest: Secrets; hasOld: boolean } {
  const [first, ...before] = secretKey === null ? keysIn(dataDir) : [secretKey]
  return { newest: secretsWith(first!), hasOld: before.length + secretKeysOld.length > 0 }
}
