/** The content site's server: answers from the build, logs, and drains when it is told to stop. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, urlOf } from '../api/server/config.ts'
import { close, listen } from '../api/server/listen.ts'
import { createLog, type Log } from '../api/server/log.ts'
import { pathOf } from '../api/http/url.ts'
import { version } from '../package.json'
import { Clients } from '../api/server/client-address.ts'
import { Answers } from './lib/answers.ts'
import type { Manifest } from './lib/manifest.ts'
import { INDEX } from './lib/search.ts'
import { SearchFront } from './search/front.ts'
import { Searcher } from './search/searcher.ts'
import type { OpenAnalyses } from './analyses/open.ts'
import { isAnalysis } from './analyses/operations.ts'
import { decoded } from '../api/hosting/paths.ts'
import type { ContentServer, ContentServerNeeds } from './mcp/content-server.ts'

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
const DIST = new URL('../dist/', import.meta.url).pathname

/** The MCP server of the site, loaded with its first request. */
function mcpOver(
  ask: (request: Request) => Response | Promise<Response>,
  sentAs: WeakMap<Request, Request>,
  place: () => Omit<ContentServerNeeds, 'askFor'>,
) {
  let opened: Promise<ContentServer> | undefined
  const askFor: ContentServerNeeds['askFor'] = (request) => async (target) => {
    const forwarded = request.headers.get('x-forwarded-for')
    const headers: Record<string, string> = forwarded === null ? {} : { 'x-forwarded-for': forwarded }
    const made = new Request(`http://localhost${target}`, { headers, signal: request.signal })
    sentAs.set(made, request)
    return ask(made)
  }
  const open = () => import('./mcp/content-server.ts').then(({ ContentServer }) => new ContentServer({ ...place(), askFor }))
  return async (request: Request): Promise<Response> => (await (opened ??= open())).answer(request)
}

/** Answers, and writes what was answered. */
function logging(log: Log) {
  const isLogged = log.enabled('info')
  const note = (request: Request, { status }: Response, started: number) =>
    log.write(status >= 500 ? 'warn' : 'info', 'request', {
      site: true,
      method: request.method,
      path: pathOf(request.url).slice(0, 300),
      status,
      ms: Math.round((performance.now() - started) * 100) / 100,
    })
  return <T extends Response | Promise<Response>>(answer: (request: Request) => T) =>
    (request: Request): T => {
      if (!isLogged) return answer(request)
      const started = performance.now()
      const response = answer(request)
      if (response instanceof Response) note(request, response, started)
      else void response.then((answered) => note(request, answered, started))
      return response
    }
}

/** Serves the build in `dist/` on `HOST` and `SITE_PORT`; `storeApi` is where the store API is. Throws with one clear line when it can't. */
export function serveSite(config: Config, storeApi: string): Site {
  const log = createLog(config.log)
  const logged = logging(log)
  let answers: Answers | undefined
  let analyses: Promise<OpenAnalyses> | undefined
  /** What only analyses need is loaded with the first of them. */
  const opened = () =>
    (analyses ??= import('./analyses/open.ts').then(({ openAnalyses }) =>
      openAnalyses(config, { answers: answers!, peerOf, entry: join(DIST, 'server/entry.mjs'), log }),
    ))
  /** Requests that this process made for a tool, each with the one that came. */
  const sentAs = new WeakMap<Request, Request>()
  const peerOf = (request: Request) => server.requestIP(sentAs.get(request) ?? request)?.address ?? ''
  const clients = new Clients(config.trustProxy)
  const clientOf = (request: Request) => clients.nameOf(peerOf(request), request.headers.get('x-forwarded-for'))
  const searcher = new Searcher(join(DIST, INDEX))
  let search: SearchFront | undefined
  const ask = (request: Request): Response | Promise<Response> => {
    const path = decoded(pathOf(request.url)) ?? ''
    if (isAnalysis(path)) return opened().then(({ front }) => front.answer(request))
    return search!.answer(request, path) ?? answers!.answer(request)
  }
  const mcp = mcpOver(ask, sentAs, () => ({
    base: url,
    version,
    broken: (error) => log.write('warn', 'unexpected error', { error: String(error) }),
  }))
  const answer = logged((request: Request) => (pathOf(request.url) === '/mcp' ? mcp(request) : ask(request)))
  const server = listen('SITE_PORT', { host: config.host, port: config.sitePort }, answer)
  const url = urlOf(config.contentBaseUrl, config.host, server.port!)
  try {
    const manifest = JSON.parse(readFileSync(join(DIST, 'manifest.json'), 'utf8')) as Manifest
    answers = new Answers(manifest, join(DIST, 'site'), { base: url, storeApi, version })
    search = new SearchFront({ answers, searcher, clientOf })
    // A path that the server finds by itself needs no URL made and parsed: a fifth of what a request costs.
    const routes = Object.fromEntries(answers.routes().map(([path, find]) => [path, { GET: logged(find), HEAD: answer }]))
    server.reload({ routes, fetch: answer })
  } catch (error) {
    void server.stop(true)
    throw new Error(`the content site is not built (${(error as Error).message}): run npm run build`)
  }
  return {
    port: server.port!,
    url,
    listensOn: urlOf(null, config.host, server.port!),
    async stop() {
      await close(server, DRAIN_MAX_MS)
      searcher.stop()
      await (await analyses)?.stop()
      log.flush()
    },
  }
}
