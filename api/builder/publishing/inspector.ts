/** The page with the log of a store's last build, under a link that works for an hour. */
import { readFile } from 'node:fs/promises'
import { pathOf } from '../../http/url.ts'
import type { Services } from '../../outside/services.ts'
import { html } from '../../values/html.ts'
import { logPath } from './make.ts'

const PREFIX = '/builds/'
const KEPT_MS = 3_600_000
const PLACE = 'build log'

interface Link {
  storeId: string
  until: number
}

/** The link for whoever administers a store. */
export const inspectorUrl = ({ secrets, storefronts }: Services, storeId: string, now: Date): string =>
  `${storefronts.place.apiUrl}${PREFIX}${secrets.seal({ storeId, until: now.getTime() + KEPT_MS } satisfies Link, PLACE)}`

/** Answers a request for the page; null when it is for something else. */
export async function serveInspector(request: Request, services: Services): Promise<Response | null> {
  const path = pathOf(request.url)
  if (!path.startsWith(PREFIX) || (request.method !== 'GET' && request.method !== 'HEAD')) return null
  const token = path.slice(PREFIX.length)
  const link = token.length < 1_000 ? services.secrets.open<Link>(token, PLACE) : null
  const isGood = link !== null && link.until > services.clock.now().getTime()
  const log = isGood ? await readFile(logPath(services, link.storeId), 'utf8').catch(() => 'There is no log yet.') : null
  const page = html`<!doctype html>
    <html lang="en">
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="robots" content="noindex" />
      <title>Build log</title>
      <style>
        body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem; color-scheme: light dark; }
        pre { white-space: pre-wrap; overflow-wrap: anywhere; }
      </style>
      <h1>Build log</h1>
      ${log === null ? html`<p>This link has expired: publish again, or read the log in the data folder.</p>` : html`<pre>${log}</pre>`}
    </html>`
  return new Response(request.method === 'HEAD' ? null : page.text, {
    status: log === null ? 404 : 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'private, no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    },
  })
}
