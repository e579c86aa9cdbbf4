/** The store's CDN path: files of media, served without a key and for ever. */
import type { Environment } from '../../../db/open.ts'
import { isUuid } from '../../values/uuid.ts'
import { refusalOf } from '../../http/errors.ts'
import { targetOf } from '../../http/url.ts'
import type { Log } from '../../server/log.ts'
import { CDN, pathIn, type Files, type Owner } from '../../outside/files.ts'

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const PATH = new RegExp(`^${CDN}(${UUID})/(live|sandbox)/(${UUID})/((?:image|\\d{1,4})\\.(jpg|png|webp|gif))$`)
const TYPES: Record<string, string> = { jpg: 'image/jpeg', png: 'image/png', webp: 'image/webp', gif: 'image/gif' }

/** The id that a store's address of a file names, whatever host it is on; null for all other addresses. */
export function idIn(owner: Owner, address: string): string | null {
  const folder = pathIn(owner, '').slice(0, -1)
  const path = URL.canParse(address) ? new URL(address).pathname : ''
  const at = path.indexOf(folder)
  const id = path.slice(at + folder.length).split('/', 1)[0]!
  return at >= 0 && isUuid(id) ? id.toLowerCase() : null
}

/** Answers a request for a file; null when it is for something else, or there is none. A file never changes under its name. */
export async function serveFile(files: Files, request: Request, log: Log): Promise<Response | null> {
  try {
    return await fileFor(files, request)
  } catch (error) {
    const refusal = refusalOf(error)
    if (!refusal) throw error
    log.write('warn', 'a file of media could not be read', { error: String(error) })
    return Response.json(refusal.body, { status: refusal.status, headers: { ...refusal.headers, 'cache-control': 'no-store' } })
  }
}

async function fileFor(files: Files, request: Request): Promise<Response | null> {
  if (request.method !== 'GET' && request.method !== 'HEAD') return null
  const match = PATH.exec(targetOf(request.url).replace(/\?.*$/s, ''))
  if (!match) return null
  const [, storeId, environment, id, name, extension] = match as unknown as [string, string, Environment, string, string, string]
  const owner = { storeId, environment }
  const isKnown = request.headers.get('if-none-match')?.includes(`"${id}-${name}"`)
  const isRead = request.method === 'GET' && !isKnown
  const file = isRead ? await files.read(owner, id, name) : null
  const size = isRead ? file?.size : await files.size(owner, id, name)
  if (size === undefined || size === null) return null
  const etag = `"${id}-${name}"`
  const headers: Record<string, string> = {
    etag,
    'cache-control': 'public, max-age=31536000, immutable',
    'content-type': TYPES[extension]!,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'cross-origin',
    'access-control-allow-origin': '*',
  }
  if (isKnown) return new Response(null, { status: 304, headers })
  return new Response(file?.body ?? null, { headers: { ...headers, 'content-length': String(size) } })
}
