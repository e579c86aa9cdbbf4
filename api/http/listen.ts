/** Listening on a port, with one clear line when that can't be done. */
import type { Server } from 'bun'

/** A request may take this long without a byte going either way. */
const IDLE_SECONDS = 120
/** Bun's own 413 has no body. Routes read no further than they take, and what nobody reads is not kept. */
const REQUEST_MAX_BYTES = Number.MAX_SAFE_INTEGER

export interface Address {
  host: string
  port: number
  reusePort?: boolean
}
export type Serve = (request: Request) => Response | Promise<Response>

/** Listens on `address`; `variable` is the name of the setting that its port comes from, for whoever reads the error. */
export function listen(variable: string, { host, port, reusePort = false }: Address, serve: Serve): Server<undefined> {
  try {
    return Bun.serve({
      hostname: host,
      port,
      reusePort,
      idleTimeout: IDLE_SECONDS,
      maxRequestBodySize: REQUEST_MAX_BYTES,
      development: false,
      fetch: serve,
      error: () => Response.json({ error: 'internal error' }, { status: 500 }),
    })
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code === 'EADDRINUSE')
      throw new Error(`${variable} ${port} is in use on ${host}: stop what listens there or set ${variable} to another port`)
    if (code === 'EADDRNOTAVAIL')
      throw new Error(`HOST ${host} is no address of this machine: set HOST to one of its addresses, such as 127.0.0.1 or 0.0.0.0`)
    // What Bun says of a name that nobody resolves, and of an address that needs an interface.
    if (code === 'EINVAL')
      throw new Error(`HOST ${host} can't be listened on: set HOST to an address of this machine, such as 127.0.0.1 or 0.0.0.0`)
    if (code === 'EACCES') throw new Error(`${variable} ${port} may not be used by this user: set ${variable} to a port of 1024 or more`)
    throw new Error(`could not listen on ${host}, port ${port} (${variable}): ${message}`)
  }
}

/**
 * Stops listening when `ready` says so, lets running requests end, and cuts off what is still open after `waitMs`. Returns how many
 * requests that were.
 */
export async function close(server: Server<undefined>, waitMs: number, ready: Promise<unknown> = Promise.resolve()): Promise<number> {
  await Promise.race([ready.then(() => server.stop()), Bun.sleep(waitMs)])
  const cutOff = server.pendingRequests
  await server.stop(true)
  return cutOff
}
