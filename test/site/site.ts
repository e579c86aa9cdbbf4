/** The built content site, answered in this process. */
import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../api/server/config.ts'
import { createLog } from '../../api/server/log.ts'
import { isBuilt } from '../../scripts/built.ts'
import { openAnalyses } from '../../site/analyses/open.ts'
import { Answers } from '../../site/lib/answers.ts'
import type { Manifest } from '../../site/lib/manifest.ts'
import { INDEX } from '../../site/lib/search.ts'
import { SearchFront } from '../../site/search/front.ts'
import { Searcher } from '../../site/search/searcher.ts'

export const ROOT = new URL('../..', import.meta.url).pathname

export interface Asked {
  status: number
  headers: Headers
  text: string
  /** Of JSON. */
  body: any
}

/** The site as it is at `base`, where it was built for unless told otherwise; `env` is what its analyses are told. */
export async function openSite({ env: more = {}, ...place }: { base?: string; storeApi?: string; env?: Record<string, string> } = {}) {
  // The test runner's own variables (BASE_URL) mean something else to the build.
  const env = { PATH: process.env.PATH, HOME: process.env.HOME }
  if (!isBuilt()) {
    const { exitCode } = Bun.spawnSync([process.execPath, 'scripts/build.ts'], { cwd: ROOT, env, stdio: ['ignore', 'inherit', 'inherit'] })
    if (exitCode !== 0) throw new Error('the content site can not be built')
  }
  const manifest = JSON.parse(readFileSync(join(ROOT, 'dist/manifest.json'), 'utf8')) as Manifest
  const { base = manifest.base, storeApi = manifest.storeApi } = place
  const answers = new Answers(manifest, join(ROOT, 'dist/site'), { base, storeApi, version: 'test' })
  // Made when an analysis is asked for, and not before.
  const config = readConfig({ DATA_DIR: join(tmpdir(), `stoa-site-${crypto.randomUUID()}`), LOG: 'silent', ...more })
  const { front, stop } = openAnalyses(config, {
    answers,
    peerOf: () => '127.0.0.1',
    entry: join(ROOT, 'dist/server/entry.mjs'),
    log: createLog(config.log),
  })
  const searcher = new Searcher(join(ROOT, 'dist', INDEX))
  // Each request of a test is somebody else's: nobody searches too often.
  const search = new SearchFront({ answers, searcher, clientOf: () => crypto.randomUUID() })
  /** Answers a request as the server of the site does. */
  const answer = async (request: Request): Promise<Response> =>
    search.answer(request, new URL(request.url).pathname) ?? front.answer(request)
  const ask = async (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Asked> => {
    const request = new Request(`http://site.test${path}`, { method, headers })
    const response = await answer(request)
    const bytes = new Uint8Array(await response.arrayBuffer())
    const text = new TextDecoder().decode(bytes)
    const isJson = /json/.test(response.headers.get('content-type') ?? '')
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text && !response.headers.has('content-encoding') ? JSON.parse(text) : null,
    }
  }
  const close = async () => {
    searcher.stop()
    await stop()
    if (!more.DATA_DIR) rmSync(config.dataDir, { recursive: true, force: true })
  }
  return { manifest, base, answers, front, answer, ask, stop: close, dataDir: config.dataDir }
}
