/**
 * A proxy on loopback for a browser that shows a stranger's page: whatever the page and its scripts ask for is judged here as if a stranger
 * had asked for it, and the connection goes to the address that was judged.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import http from 'node:http'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Places } from '../../../api/outside/public-places.ts'

/** In both directions together: a page that needs more is not measured to its end, and none sends more to anybody. */
const BYTES_MAX = 200 * 1_048_576
const CONNECTIONS_MAX = 256
const CONNECT_MS = 5_000
/** Of one connection, not of what is asked for (RFC 9110, 7.6.1). */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

interface Proxy {
  port: number
  close(): void
}

/** Where a request may go; null where it may not. */
async function addressFor(places: Places, url: URL): Promise<string | null> {
  if (places.refusal(url) !== null) return null
  return (await places.addressesOf(url).catch(() => []))[0] ?? null
}

/** `CONNECT host:port`, as the URL that is judged. */
function targetOf(authority: string): { url: URL; port: number } | null {
  // A host and a port alone: what is judged has to be what is connected to.
  const port = Number(/^(?:\[[0-9a-f:.]+\]|[^\s/?#@\\:[\]]+):(\d{1,5})$/i.exec(authority)?.[1])
  const address = `${port === 80 ? 'http' : 'https'}://${authority}/`
  return port && URL.canParse(address) ? { url: new URL(address), port } : null
}

export async function startProxy(places: Places): Promise<Proxy> {
  const sockets = new Set<Duplex>()
  let bytes = 0
  const close = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  const counted = (piece: Buffer) => {
    bytes += piece.length
    if (bytes > BYTES_MAX) close()
  }
  const held = <T extends Duplex>(socket: T): T => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => sockets.delete(socket))
    return socket
  }
  const server: Server = createServer((request, response) => void forward(places, request, response, counted))
  server.on('connection', (socket: Socket) => (sockets.size >= CONNECTIONS_MAX ? socket.destroy() : held(socket)))
  server.on('connect', (request: IncomingMessage, client: Duplex) => void tunnel(places, request, client, { held, counted }))
  server.on('clientError', (_: Error, socket: Duplex) => socket.destroy())
  await new Promise<void>((ready, failed) => server.once('error', failed).listen(0, '127.0.0.1', ready))
  return { port: (server.address() as { port: number }).port, close }
}

/** A connection for what is encrypted: passed on as it is. */
async function tunnel(
  places: Places,
  request: IncomingMessage,
  client: Duplex,
  { held, counted }: { held: <T extends Duplex>(socket: T) => T; counted: (piece: Buffer) => void },
) {
  const target = targetOf(request.url ?? '')
  const address = target && (await addressFor(places, target.url))
  if (!address || client.destroyed) return client.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n')
  const upstream = held(connect({ host: address, port: target.port }))
  upstream.setTimeout(CONNECT_MS, () => upstream.destroy())
  upstream.once('connect', () => {
    upstream.setTimeout(0)
    client.write('HTTP/1.1 200 OK\r\n\r\n')
    upstream.on('data', counted)
    client.on('data', counted)
    upstream.pipe(client)
    client.pipe(upstream)
  })
  upstream.once('close', () => client.destroy())
  client.once('close', () => upstream.destroy())
}

const without = (headers: IncomingMessage['headers']) =>
  Object.fromEntries(Object.entries(headers).filter(([name, value]) => value !== undefined && !HOP_BY_HOP.includes(name)))

/** A request that is not encrypted: asked anew. */
async function forward(places: Places, request: IncomingMessage, response: ServerResponse, counted: (piece: Buffer) => void) {
  const url = URL.canParse(request.url ?? '') ? new URL(request.url!) : null
  const address = url?.protocol === 'http:' ? await addressFor(places, url) : null
  if (!address) return void response.writeHead(403).end()
  const pinned: LookupFunction = (_, options, done) => {
    const family = isIP(address)
    if (options.all) done(null, [{ address, family }])
    else done(null, address, family)
  }
  const upstream = http.request(url!, { method: request.method, headers: without(request.headers), lookup: pinned, agent: false })
  upstream.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()))
  upstream.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, without(answer.headers))
    answer.on('data', counted)
    answer.pipe(response)
  })
  response.once('close', () => upstream.destroy())
  request.on('data', counted)
  request.pipe(upstream)
}
