/** Listening on a port, with one clear line when that can't be done. */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Server } from 'bun'

/** A request may take this long without a byte going either way. */
const IDLE_SECONDS = 120
/** Bun's own 413 has no body. Routes read no further than they take, and what nobody reads is not kept. */
const REQUEST_MAX_BYTES = Number.MAX_SAFE_INTEGER

interface Address {
  host: string
  port: number
  reusePort?: boolean
}
export type Serve = (request: Request) => Response | Promise<Response>

/** How long the system may look for the address of a name. */
const RESOLVE_MAX_MS = 5_000

/** Refuses a `HOST` that is a name without an address: what listening on it says depends on the system. */
export async function requireHost(host: string): Promise<void> {
  if (isIP(host)) return
  const overdue = Bun.sleep(RESOLVE_MAX_MS).then(() => Promise.reject({ code: 'ETIMEOUT' }))
  await Promise.race([lookup(host), overdue]).catch(({ code }: { code?: string }) => {
    throw new Error(`HOST ${host} does not resolve (${code}): set HOST to an address of this machine, such as 127.0.0.1 or 0.0.0.0`)
  })
}

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
    // What Bun says of an address that needs an interface, and of a name that has stopped to resolve.
    if (code === 'EINVAL' || code === 'ENOENT')
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
