/** Encryption at rest, for credentials of third parties and answers that are shown once: AES-256-GCM (document 4, Carrier verification). */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Secrets {
  /** A value as it may be stored; it opens under the same `place` alone, so that no row can pass for another. */
  seal(value: unknown, place: string): string
  /** The value again; null when it was sealed with another key, for another place, or changed since. */
  open<T>(sealed: string, place: string): T | null
}

/** The file of the key that is made where `SECRET_KEY` is not set. */
export const KEY_FILE = 'secret.key'
const VERSION = 'v1'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Seals with a key made from a text that is long and random enough (`SECRET_KEY`, or the file). */
export function secretsWith(text: string): Secrets {
  const key = Buffer.from(hkdfSync('sha256', text, '', 'stoa credentials', 32))
  return {
    seal(value, place) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(place))
      const sealed = Buffer.concat([nonce, cipher.update(JSON.stringify(value), 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `${VERSION}.${sealed.toString('base64url')}`
    },
    open(sealed, place) {
      const bytes = Buffer.from(sealed.slice(VERSION.length + 1), 'base64url')
      // One spelling alone: what decodes to the same bytes is something else.
      if (bytes.length < NONCE_BYTES + TAG_BYTES || sealed !== `${VERSION}.${bytes.toString('base64url')}`) return null
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
          .setAAD(Buffer.from(place))
          .setAuthTag(bytes.subarray(-TAG_BYTES))
        return JSON.parse(decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8'))
      } catch {
        return null
      }
    },
  }
}

/** Whether a text was sealed by any key; JSON never looks like that. */
export const isSealed = (text: string) => text.startsWith(`${VERSION}.`)

/** The key in the data folder, made at the first start for this user's eyes alone. Of processes that start at once, one makes it. */
export function keyIn(dataDir: string): string {
  const path = join(dataDir, KEY_FILE)
  const known = keyOf(path)
  if (known !== null) return known
  const own = `${path}.${process.pid}`
  writeFileSync(own, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flush: true })
  try {
    linkSync(own, path)
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  } finally {
    rmSync(own)
  }
  return keyOf(path)!
}

function keyOf(path: string): string | null {
  let text: string
  try {
    text = readFileSync(path, 'utf8').trim()
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'ENOENT') return null
    throw new Error(`${path} can't be read (${code}): let this user read it, or set SECRET_KEY`)
  }
  if (!/^[0-9a-f]{64}$/.test(text)) throw new Error(`${path} is damaged: put back a copy of it, or set SECRET_KEY`)
  return text
}
