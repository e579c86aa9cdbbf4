/** Reading what a request says: its query and its body, checked, and what of them nobody here knows. */
import { parseQuery } from './check.ts'
import { NOTHING, receive, receives, type Received } from './form.ts'
import { isStrict, Notes } from './notes.ts'
import type { Ready } from './ready.ts'
import { searchOf } from './url.ts'

/**
 * The query and the body. What is unknown is named in the headers of the answer, or refused where the client prefers it (document 8,
 * Strictness). `share`: see `Bounds`.
 */
export async function read(
  ready: Ready,
  request: Request,
  share: string,
  headers: Record<string, string>,
): Promise<Received & { query: unknown }> {
  const notes = new Notes(isStrict(request.headers.get('prefer')))
  if (notes.strict) headers['preference-applied'] = 'handling=strict'
  const query = parseQuery(searchOf(request.url), ready.query, notes)
  const received = receives(ready) ? await receive(ready, request, { share, notes }) : NOTHING
  const { ignored } = notes
  if (ignored !== null) headers['ignored-fields'] = ignored
  return { ...received, query }
}
