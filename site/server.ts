/** The content site's server. */
import type { Config } from '../api/config.ts'
import { urlOf } from '../api/config.ts'
import { close, listen } from '../api/http/listen.ts'
import { version } from '../package.json'
import { home } from './home.ts'

export interface Site {
  port: number
  /** Public, without a slash at the end. */
  url: string
  /** The URL of its own host and port. */
  listensOn: string
  stop(): Promise<unknown>
}

/** A page is sent in milliseconds: who takes longer is not reading. */
const DRAIN_MAX_MS = 5_000

const HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'strict-origin-when-cross-origin',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}

/** Listens on `HOST` and `SITE_PORT`. Throws with one clear line when it can't. */
export function serveSite(config: Config, apiUrl: string): Site {
  const page = home(apiUrl, version)
  const answers: Record<string, () => Response> = {
    '/': () =>
      new Response(page, { headers: { ...HEADERS, 'content-type': 'text/html; charset=utf-8', 'cache-control': 'public, max-age=60' } }),
    '/healthz': () => Response.json({ ok: true, version }, { headers: { ...HEADERS, 'cache-control': 'no-store' } }),
  }
  const plain = (status: number, text: string, headers: Record<string, string> = {}) =>
    new Response(`${text}\n`, { status, headers: { ...HEADERS, 'content-type': 'text/plain; charset=utf-8', ...headers } })
  const server = listen('SITE_PORT', { host: config.host, port: config.sitePort }, (request) => {
    const answer = answers[new URL(request.url).pathname]
    if (!answer) return plain(404, 'There is no such page.')
    if (request.method !== 'GET' && request.method !== 'HEAD') return plain(405, 'This page can only be read.', { allow: 'GET, HEAD' })
    return answer()
  })
  return {
    port: server.port!,
    url: urlOf(config.contentBaseUrl, config.host, server.port!),
    listensOn: urlOf(null, config.host, server.port!),
    stop: () => close(server, DRAIN_MAX_MS),
  }
}
