/** Reading what a request says: its query and its body, checked, and what of them nobody here knows. */
import { STRANGERS } from './input/bytes.ts'
import { parseQuery } from './input/check.ts'
import { readJson, type Allowance } from './input/body.ts'
import { NOTHING, receive, receives, type Received, type Receiving } from './input/form.ts'
import { isStrict, Notes } from './input/notes.ts'
import type { Ready } from './ready.ts'
import { searchOf } from './url.ts'

/** A request that has been read: its payload, its query, and notes of its unknown parts. */
export interface Read extends Received {
  query: unknown
  notes: Notes
}

/**
 * A body that nobody asked for: none of its fields is known. What is no JSON at all is left alone, and what comes without a key: a route
 * there reads what was signed by itself.
 */
async function stray(request: Request, receiving: Receiving): Promise<Received> {
  const { method, headers } = request
  const { share, notes } = receiving
  if (share === STRANGERS || method === 'GET' || !headers.get('content-type')?.includes('json') || !request.body) return NOTHING
  const { value } = await readJson(request, receiving)
  if (typeof value === 'object' && value !== null) for (const name of Object.keys(value)) notes.field(null, name, [])
  notes.refuse()
  return NOTHING
}

/**
 * The query and the body. What is unknown is named in the headers of the answer, or refused where the client prefers it (document 8,
 * Strictness).
 */
export async function read(ready: Ready, request: Request, allowance: Allowance, headers: Record<string, string>): Promise<Read> {
  const notes = new Notes(isStrict(request.headers.get('prefer')))
  if (notes.strict) headers['preference-applied'] = 'handling=strict'
  const query = parseQuery(searchOf(request.url), ready.query, notes)
  const receiving = { ...allowance, notes }
  const received = receives(ready) ? await receive(ready, request, receiving) : await stray(request, receiving)
  tell(notes, headers)
  return { ...received, query, notes }
}

/** Says in the headers of the answer what of the request is not known. */
export function tell({ ignored }: Notes, headers: Record<string, string>) {
  if (ignored !== null) headers['ignored-fields'] = ignored
}
