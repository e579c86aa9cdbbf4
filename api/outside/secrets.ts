/** Encryption at rest, for credentials of third parties and answers that are shown once: AES-256-GCM (document 4, Carrier verification). */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

export interface Secrets {
  /** A value as it may be stored; it opens under the same `place` alone, so that no row can pass for another. */
  seal(value: unknown, place: string): string
  /** The value again; null when it was sealed with another key, for another place, or changed since. */
  open<T>(sealed: string, place: string): T | null
}

const VERSION = 'v1'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Seals with a key made from a text that is long and random enough (`SECRET_KEY`, or the file), and opens what those before it have sealed. */
export function secretsWith(text: string, ...before: readonly string[]): Secrets {
  const [key, ...olds] = [text, ...before].map((each) => Buffer.from(hkdfSync('sha256', each, '', 'stoa credentials', 32)))
  return {
    seal(value, place) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key!, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(place))
      const sealed = Buffer.concat([nonce, cipher.update(JSON.stringify(value), 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `${VERSION}.${sealed.toString('base64url')}`
    },
    open<T>(sealed: string, place: string): T | null {
      const bytes = Buffer.from(sealed.slice(VERSION.length + 1), 'base64url')
      // One spelling alone: what decodes to the same bytes is something else.
      if (bytes.length < NONCE_BYTES + TAG_BYTES || sealed !== `${VERSION}.${bytes.toString('base64url')}`) return null
      for (const each of [key!, ...olds]) {
        const opened = openedWith(each, bytes, place)
        if (opened !== null) return JSON.parse(opened) as T
      }
      return null
    },
  }
}

/** The text that a key has sealed for a place; null when it has not. */
function openedWith(key: Buffer, bytes: Buffer, place: string): string | null {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(place))
      .setAuthTag(bytes.subarray(-TAG_BYTES))
    return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
  } catch {
    return null
  }
}

/** Whether a text was sealed by any key; JSON never looks like that. */
export const isSealed = (text: string) => text.startsWith(`${VERSION}.`)
