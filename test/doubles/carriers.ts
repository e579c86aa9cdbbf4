/** Doubles of the carriers' verification (document 4) on loopback: one server that all four URLs lead to, each under its own path. */
import type { CarrierUrls } from '../../api/outside/carriers.ts'

interface Seen {
  method: string
  /** `carrier_a/live/auth/verify` */
  path: string
  headers: Record<string, string>
  body: any
}

export interface CarriersDouble {
  urls: CarrierUrls
  /** The login of carrier_a with its password, the organisation of carrier_b with its token. */
  known: { login: string; password: string; orgId: string; token: string }
  seen: Seen[]
  /** Answers in another way than a carrier that is well. */
  instead: ((request: Request) => Response | Promise<Response>) | null
  /** Keeps every request waiting; the function that it returns lets them go. */
  hang(): () => void
  reset(): void
  close(): void
}

export function carriersDouble(): CarriersDouble {
  const known = { login: 'stoa-goods', password: 'hunter2-of-carrier-a', orgId: '10042', token: 'hunter2-of-carrier-b' }

  /** What the contract says: 200, or why not. */
  function verdict({ path, body, headers, method }: Seen): number {
    if (path.endsWith('/auth/verify')) {
      if (method !== 'POST' || headers['content-type'] !== 'application/json') return 415
      return body.login !== known.login ? 403 : body.password === known.password ? 200 : 401
    }
    const [, orgId] = /\/v1\/organizations\/([^/]+)$/.exec(path) ?? []
    if (method !== 'GET' || orgId === undefined) return 400
    if (headers.authorization !== `Bearer ${known.token}`) return 401
    return decodeURIComponent(orgId) === known.orgId ? 200 : orgId === 'closed' ? 403 : 404
  }

  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    async fetch(request) {
      const text = await request.clone().text()
      const seen: Seen = {
        method: request.method,
        path: new URL(request.url).pathname.slice(1),
        headers: Object.fromEntries(request.headers as never),
        body: text ? JSON.parse(text) : null,
      }
      double.seen.push(seen)
      if (double.instead) return double.instead(request)
      const status = verdict(seen)
      return Response.json(status === 200 ? { id: known.orgId } : { error: 'no' }, { status })
    },
  })
  const at = (carrier: string, environment: string) => `${server.url.origin}/${carrier}/${environment}`
  const double: CarriersDouble = {
    urls: {
      carrier_a: { live: at('carrier_a', 'live'), test: at('carrier_a', 'test') },
      carrier_b: { live: at('carrier_b', 'live'), test: at('carrier_b', 'test') },
    },
    known,
    seen: [],
    instead: null,
    hang() {
      const { promise, resolve } = Promise.withResolvers<void>()
      double.instead = async () => {
        await promise
        return new Response(null, { status: 200 })
      }
      return () => {
        double.instead = null
        resolve()
      }
    },
    reset() {
      double.seen = []
      double.instead = null
    },
    close: () => void server.stop(true),
  }
  return double
}

/** The body that connects a carrier to what its double knows. */
export const connecting = ({ known }: CarriersDouble, name: 'carrier_a' | 'carrier_b', more: object = {}) =>
  name === 'carrier_a'
    ? { environment: 'live', login: known.login, password: known.password, ...more }
    : { environment: 'live', orgId: known.orgId, token: known.token, ...more }
