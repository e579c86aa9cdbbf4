/** The content site with its analyses, and shops on loopback for it to look at. */
import { createServer, type Server, type Socket } from 'node:net'
import { openSite } from '../site/site.ts'

/** Answers a request with raw bytes, so that it can be wrong in every way. */
export type Raw = (socket: Socket, request: { path: string; head: string; method: string }) => void

export interface RawShop {
  port: number
  /** What was asked for: `GET /path`. */
  asked: string[]
  /** Connections that are open. */
  open(): number
  close(): Promise<void>
}

/** A server of raw answers on loopback. */
export async function rawShop(answer: Raw, { host = '127.0.0.1', port = 0 } = {}): Promise<RawShop> {
  const sockets = new Set<Socket>()
  const asked: string[] = []
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    socket.once('data', (data) => {
      const head = data.toString('latin1')
      const [method = '', path = ''] = head.split(' ')
      asked.push(`${method} ${path}`)
      answer(socket, { path, head, method })
    })
  })
  await new Promise<void>((ready, failed) => server.once('error', failed).listen(port, host, ready))
  return {
    port: (server.address() as { port: number }).port,
    asked,
    open: () => sockets.size,
    close: () =>
      new Promise((closed) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => closed())
      }),
  }
}

/** A whole answer. */
export const http = (body: string | Buffer, headers: Record<string, string> = {}, status = '200 OK') => {
  const bytes = Buffer.from(body)
  const all = { 'content-type': 'text/html; charset=utf-8', 'content-length': String(bytes.length), connection: 'close', ...headers }
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status}\r\n${head.join('')}\r\n`), bytes])
}

/** A site whose requests come from as many addresses as there are: none of them meets a limit. */
export async function openScanner(env: Record<string, string> = {}) {
  const site = await openSite({ env: { TRUST_PROXY: '127.0.0.1', ...env } })
  let client = 0
  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    client++
    return site.ask(path, { 'x-forwarded-for': `198.51.${client >> 8}.${client & 255}`, ...headers }, method)
  }
  const analyse = (operation: string, url: string) => ask(`/api/${operation}?url=${encodeURIComponent(url)}`)
  return { ...site, ask, analyse }
}

/** Sets a variable of this process, or removes it: set to undefined it would be the word. */
export function setEnv(name: string, value: string | undefined) {
  if (value === undefined) delete process.env[name]
  else process.env[name] = value
}

export const OPERATIONS = ['store-scan', 'fetch-page-meta', 'pagespeed'] as const
