/** Calls the API of a server that is measured, for what is not. */
import type { Server } from './servers.ts'

/** Makes the function that sends a request with a key; it throws for whatever is not a success. `path` starts behind `/api/v1`. */
export const callerOf =
  ({ port }: Pick<Server, 'port'>, key: string) =>
  async (method: string, path: string, body?: unknown): Promise<any> => {
    const headers = { authorization: `Bearer ${key}`, ...(body ? { 'content-type': 'application/json' } : {}) }
    const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
      method,
      headers,
      body: body ? JSON.stringify(body) : undefined,
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }
