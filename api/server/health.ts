/** `/healthz`, `/readyz` and `/metrics`: what whoever keeps the process running asks. */
import { exposition, type Figures } from './metrics.ts'
import type { Readiness } from './readiness.ts'
import type { Underway } from './underway.ts'

const plain = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
  })

interface HealthNeeds {
  version: string
  underway: Underway
  readiness: Readiness
  /** The figures of all processes that share the port; null: nobody may ask for them. */
  scrape: (() => Promise<Figures>) | null
}

/** Answers a path of this kind; null for any other. */
export async function health(path: string, { version, underway, readiness, scrape }: HealthNeeds): Promise<Response | null> {
  if (path === '/healthz') return plain(200, { ok: true, version })
  if (path === '/readyz') {
    const error = underway.isDraining ? 'draining' : await readiness.problem()
    return error ? plain(503, { ok: false, error }) : plain(200, { ok: true })
  }
  if (path !== '/metrics' || !scrape) return null
  return scrape().then(
    (all) => new Response(exposition(all), { headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } }),
    (error) => plain(503, { ok: false, error: error.message }),
  )
}
