/**
 * The pages that are made for each request: Astro's, through @astrojs/node in middleware mode. Its handler speaks to Node's servers, so one
 * stands behind the front on loopback; what a page shows is handed over in this process, by a ticket that nobody else can know.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'

type Handler = (request: IncomingMessage, response: ServerResponse, next: () => void, locals: object) => Promise<void>

/** Names what a page shows. */
const TICKET = 'x-ticket'

/** Loads the handler. It hears all rejections of this process that nobody heeds; those of the servers are not its own. */
async function load(entry: string): Promise<Handler> {
  const before = process.listeners('unhandledRejection')
  const { handler } = (await import(entry)) as { handler: Handler }
  for (const listener of process.listeners('unhandledRejection'))
    if (!before.includes(listener)) process.removeListener('unhandledRejection', listener)
  return handler
}

export class Renderer {
  readonly #shown = new Map<string, object>()
  #started: Promise<{ server: Server; port: number }> | undefined

  /** `entry` is the built server of Astro. */
  constructor(readonly entry: string) {}

  async #start() {
    const handler = await load(this.entry)
    const server = createServer((request, response) => {
      const locals = this.#shown.get(String(request.headers[TICKET]))
      if (locals) void handler(request, response, () => response.writeHead(404).end(), locals)
      else response.writeHead(404).end()
    })
    await new Promise<void>((ready, failed) => server.once('error', failed).listen(0, '127.0.0.1', ready))
    // It is asked by this process alone, and keeps it for nobody.
    server.unref()
    return { server, port: (server.address() as { port: number }).port }
  }

  /** The HTML of a page with what it shows (`Astro.locals`). Throws when it can't be made. */
  async page(path: string, locals: object): Promise<string> {
    const { port } = await (this.#started ??= this.#start())
    const ticket = crypto.randomUUID()
    this.#shown.set(ticket, locals)
    try {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { [TICKET]: ticket } })
      const text = await answer.text()
      if (answer.status !== 200) throw new Error(`the page ${path} can't be made: ${answer.status}`)
      return text
    } finally {
      this.#shown.delete(ticket)
    }
  }

  async stop() {
    if (!this.#started) return
    const { server } = await this.#started
    server.closeAllConnections()
    server.close()
  }
}
