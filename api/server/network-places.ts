/** Places in a network as settings name them. */
import { isIP } from 'node:net'

/** Whether a text is an IP address, or a range of them. */
export function isRange(range: string): boolean {
  const [address = '', bits, ...rest] = range.split('/')
  const family = isIP(address)
  return family !== 0 && rest.length === 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)))
}

/** Whether a text is an IP address with an optional port. */
export function isResolver(server: string): boolean {
  if (isIP(server)) return true
  const [, v6, v4, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(server) ?? []
  return isIP(v6 ?? v4 ?? '') === (v6 ? 6 : 4) && Number(port) >= 1 && Number(port) <= 65_535
}

/** A host and a port as URLs write them; null for anything else. */
export function hostAndPort(text: string): string | null {
  const port = /:(\d{1,5})$/.exec(text)?.[1]
  const url = port && URL.canParse(`http://${text}/`) && new URL(`http://${text}/`)
  return url && url.pathname === '/' && !url.username && !url.search && !url.hash && Number(port) >= 1
    ? `${url.hostname}:${Number(port)}`
    : null
}
