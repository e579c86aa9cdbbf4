/**
 * Hosts that browsers know to be https alone: Chromium's list of 2025-01-01, as hashes (`content/scan/hsts-preload.bin`). Each has five bytes
 * of SHA-256, whose last bit tells whether the hosts below it are meant, too.
 */
import { readFileSync } from 'node:fs'

const LIST = new URL('../../../content/scan/hsts-preload.bin', import.meta.url)
const HASH_BYTES = 5
/** A longer name is none of DNS. */
const NAME_MAX = 253

let list: Buffer | undefined

/** Where a name stands: with the hosts below it, alone, or not at all. */
function entryOf(name: string): 'with-subdomains' | 'alone' | null {
  list ??= readFileSync(LIST)
  const wanted = new Bun.CryptoHasher('sha256').update(name).digest().readUIntBE(0, HASH_BYTES)
  const even = wanted - (wanted % 2)
  let [low, high] = [0, list.length / HASH_BYTES]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const found = list.readUIntBE(middle * HASH_BYTES, HASH_BYTES)
    if (found - (found % 2) === even) return found % 2 ? 'with-subdomains' : 'alone'
    if (found < even) low = middle + 1
    else high = middle
  }
  return null
}

/** Whether a host, or one that it is below, is on the list. */
export function isPreloaded(host: string): boolean {
  if (host.length > NAME_MAX) return false
  const labels = host.toLowerCase().replace(/\.$/, '').split('.')
  return labels.some((_, at) => {
    const entry = entryOf(labels.slice(at).join('.'))
    return entry === 'with-subdomains' || (entry === 'alone' && at === 0)
  })
}
