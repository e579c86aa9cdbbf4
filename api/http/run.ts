/** Running a handler: alone, once for an `Idempotency-Key`, or if what it changes still is what the client has seen. */
import type { Handle } from '../../db/open.ts'
import type { Secrets } from '../outside/secrets.ts'
import { Refusal } from '../values/refusal.ts'
import { askedBy, joined } from './call.ts'
import { constraintRefusal } from './errors.ts'
import { etagOf, stillMatches } from './etag.ts'
import { answered, attemptOf, once, replayed, type Attempt } from './idempotency.ts'
import { parseQuery } from './input/check.ts'
import { Notes } from './input/notes.ts'
import { tell } from './read.ts'
import { bodyOf, encoded, statusOf, type Ready } from './ready.ts'
import type { Memory } from './remembered.ts'
import { respond } from './respond.ts'
import type { AnyCall, Route } from './route.ts'
import { searchOf } from './url.ts'

/** GET routes by path. */
export type Reads = Map<string, Ready>

/** The surroundings of a handler that runs, beside its call. */
export interface Running {
  ready: Ready
  request: Request
  /** The headers of the answer so far. */
  headers: Record<string, string>
  handle: Handle
  /** The body as it came. */
  text: string
  notes: Notes
  /** Where the answer may be remembered. */
  memory: Memory | null
  secrets: Secrets
  checkAnswers: boolean
  reads: Reads
}

/** The same call without the time: what an answer that is remembered may not depend on. Reading it throws, in tests. */
export function timeless(call: AnyCall, { options }: Route): AnyCall {
  const get = () => {
    throw new Error(`${options.operationId} is \`stored\`, so it may not depend on the time`)
  }
  const { now: _, clock: __, services, ...rest } = call
  const own = Object.defineProperty({ ...services }, 'clock', { get })
  return Object.defineProperties({ ...rest, services: own }, { now: { get }, clock: { get } }) as AnyCall
}

const CONDITIONAL = new Set(['PATCH', 'PUT', 'DELETE'])

/** Runs the handler of a route and answers with what it returns. */
export async function run(running: Running, call: AnyCall): Promise<Response> {
  const { ready, request, handle, headers, text, checkAnswers, memory } = running
  // Whoever has no key could store an answer with every request.
  const attempt = call.session && attemptOf(request, ready.route.path, call.session.key.id, text, call)
  const before = attempt && ready.prepare ? await replayed(handle.read, attempt, running.secrets) : null
  if (before) return answered(before, headers)
  const prepared = await ready.prepare?.(call)
  const effect = (own: AnyCall) => handled(running, prepared === undefined ? own : { ...own, prepared })
  if (attempt) return runOnce(running, call, attempt, effect)
  const condition = CONDITIONAL.has(request.method) ? request.headers.get('if-match') : null
  const result = condition === null ? await effect(call) : await runIf(running, call, condition, effect)
  return respond(ready, request, checkAnswers, result, headers, memory)
}

/** The result of the handler; the headers name the unknown parts of the request, and the page about a refusal. */
async function handled({ ready, notes, headers }: Running, call: AnyCall): Promise<unknown> {
  try {
    const result = await ready.handle(call)
    if (notes.hasShown && (notes.isLate || ready.route.method === 'POST')) notes.compare(bodyOf(ready, result))
    tell(notes, headers)
    return result
  } catch (error) {
    const refusal = constraintRefusal(error) ?? error
    throw refusal instanceof Refusal ? refusal.at(ready.documentation) : refusal
  }
}

type Effect = (call: AnyCall) => Promise<unknown>

async function runOnce({ ready, handle, secrets, checkAnswers, headers }: Running, call: AnyCall, attempt: Attempt, effect: Effect) {
  const outcome = await once(handle, attempt, secrets, async (tx) => {
    const result = await effect(joined(ready.route, call, tx))
    return { status: statusOf(ready, result), body: encoded(ready, result, checkAnswers) }
  })
  return answered(outcome, headers)
}

async function runIf(running: Running, call: AnyCall, condition: string, effect: Effect): Promise<unknown> {
  const { ready, handle, request } = running
  return handle.write(
    async (tx) => {
      const inside = joined(ready.route, call, tx)
      if (!stillMatches(condition, await currentTag(running, inside)))
        throw new Refusal(412, 'the resource has changed since: read it again')
      return effect(inside)
    },
    askedBy(request, ready.route),
  )
}

/** The query of a request as a GET takes it: what that needs may stand in the body, too; null when it is in neither. */
function queryOf(reading: Ready, { request, body }: AnyCall): unknown {
  const search = new URLSearchParams(searchOf(request.url))
  for (const name of (reading.route.query?.required ?? []) as string[])
    if (!search.has(name) && typeof body?.[name] === 'string') search.set(name, body[name])
  try {
    return parseQuery(String(search), reading.query, new Notes())
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}

/** The ETag that a GET with the request's query would have now: of the path itself, else of the resource that it is a part of. */
async function currentTag({ ready, reads, checkAnswers }: Running, inside: AnyCall): Promise<string | null> {
  const { path } = ready.route
  let reading = reads.get(path)
  for (let above = path; !reading && (above = above.slice(0, above.lastIndexOf('/')));) if (above.endsWith('}')) reading = reads.get(above)
  if (!reading) return null
  const query = queryOf(reading, inside)
  if (query === null) return null
  return etagOf(encoded(reading, await reading.route.handler({ ...inside, query }), checkAnswers))
}
