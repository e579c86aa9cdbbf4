/** A receiver of webhooks: it verifies what it gets as any would that uses the library of Standard Webhooks, and answers as it is told. */
import { Webhook } from 'standardwebhooks'

interface Received {
  id: string
  at: number
  type: string
  timestamp: string
  data: any
  text: string
  headers: Headers
  path: string
}

export interface Receiver {
  port: number
  url: string
  host: string
  /** What came and was genuine, in its order. */
  received: Received[]
  /** How many came that were not. */
  forged: number
  /** The secrets that it knows, by path; any path goes by that of `/`. */
  secrets: Map<string, string>
  /** The answer to each; 204 unless told otherwise. */
  answer: (received: Received, nth: number) => Response | Promise<Response>
  close(): Promise<void>
}

/** Throws for what is not genuine. A sender whose clock is held still, years away, is known by the signature that the library makes itself. */
function verify(secret: string, text: string, headers: Headers) {
  const library = new Webhook(secret)
  const sentAt = Number(headers.get('webhook-timestamp')) * 1_000
  if (Math.abs(sentAt - Date.now()) < 60_000) return library.verify(text, Object.fromEntries(headers))
  const right = library.sign(headers.get('webhook-id')!, new Date(sentAt), text)
  if (!headers.get('webhook-signature')!.split(' ').includes(right)) throw new Error('not genuine')
}

export function receiver(): Receiver {
  const known: Receiver = {
    ...{ port: 0, url: '', host: '', received: [], forged: 0, secrets: new Map(), close: async () => {} },
    answer: () => new Response(null, { status: 204 }),
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    async fetch(request) {
      const text = await request.text()
      const path = new URL(request.url).pathname
      const secret = known.secrets.get(path) ?? known.secrets.get('/')
      try {
        if (secret) verify(secret, text, request.headers)
      } catch {
        known.forged++
        return new Response('not genuine', { status: 401 })
      }
      const { type, timestamp, data } = JSON.parse(text)
      const one = {
        id: request.headers.get('webhook-id')!,
        at: performance.now(),
        type,
        timestamp,
        data,
        text,
        headers: request.headers,
        path,
      }
      const nth = known.received.push(one)
      return known.answer(one, nth)
    },
  })
  known.port = server.port!
  known.host = `127.0.0.1:${server.port}`
  known.url = `http://${known.host}/`
  known.close = () => server.stop(true)
  return known
}
