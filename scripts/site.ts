/** The content site beside the API, in a process of its own (serve-site.ts). */
import { urlOf, type Config } from '../api/server/config.ts'
import type { Site } from '../site/server.ts'
import { Kept } from './kept.ts'

const SERVE = new URL('serve-site.ts', import.meta.url).pathname
/** It sends its last pages for 5 s, and ends what analyses run. */
const END_MAX_MS = 10_000
/** What it is told of the environment: nothing that is secret but the key of its own speed tests. */
const PASSED_ON = [
  ...['PATH', 'HOME', 'TZ', 'TMPDIR', 'LANG', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
  ...['HOST', 'CONTENT_BASE_URL', 'DATA_DIR', 'TRUST_PROXY', 'DNS_SERVERS', 'FETCH_ALLOW', 'PAGESPEED_URL', 'PAGESPEED_KEY', 'LOG'],
  'CHROMIUM_NO_SANDBOX',
]

/** Starts it; `storeApi` is where the store API is. Throws when it can't start, and has said why then. */
export function startSite(config: Config, storeApi: string): { site: Promise<Omit<Site, 'stop'>>; stop(): Promise<void> } {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED_ON.includes(name)))
  const kept = new Kept({
    name: 'the content site',
    file: SERVE,
    env: (port) => ({ ...env, SITE_PORT: String(port), STORE_API: storeApi }),
    endMaxMs: END_MAX_MS,
  })
  const site = kept.start(config.sitePort).then((port) => ({
    port,
    url: urlOf(config.contentBaseUrl, config.host, port),
    listensOn: urlOf(null, config.host, port),
  }))
  return { site, stop: () => kept.stop() }
}
