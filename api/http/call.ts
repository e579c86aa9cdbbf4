/** Calls: what a handler gets to work with, alone or inside a transaction that is open already. */
import { compile, inserter, type Db, type Reader } from '../../db/driver.ts'
import type { Session } from '../../db/control/registry.ts'
import type { Handle } from '../../db/open.ts'
import { auditLog, settings as settingsTable } from '../../db/store/store.ts'
import { isStorefront, ownerOf } from './auth.ts'
import type { Received } from './input/form.ts'
import type { Owner } from '../outside/files.ts'
import { guess } from '../server/guesses.ts'
import type { RateLimiter } from '../server/rate-limit.ts'
import { Refusal } from '../values/refusal.ts'
import type { AnyCall, Guesses, Route, Settings, Via } from './route.ts'
import { isUuid } from '../values/uuid.ts'
import type { Surroundings, Visitors } from './surroundings.ts'
import { loggable, pathOf } from './url.ts'

/** Work for after the answer (see `Call.after`), or before it, of a failure (see `Call.undo`). */
export type Task = { run(store: Handle): Promise<void>; when: 'success' | 'always' } | { run(): Promise<void>; when: 'undo' }

/** One keyed request, before it is parsed. */
interface Keyed {
  session: Session
  via: Via
  handle: Handle
  request: Request
  requestId: string
  params: Record<string, string>
  headers: Record<string, string>
  tasks: Task[]
  /** The version of the store that this request has asked for already. */
  version?: number | null
}

const settingsRow = compile((db) => db.select().from(settingsTable))
const insertAudit = inserter(auditLog)

/** The settings of a store, read again only after a commit. */
const remembered = new WeakMap<Handle, { version: number; row: Settings }>()

async function settingsOf({ handle, version = handle.version() }: Keyed): Promise<Settings> {
  const memo = remembered.get(handle)
  if (version !== null && memo?.version === version) return memo.row
  const row = (await settingsRow.get(handle.read)) as Settings
  if (version !== null) remembered.set(handle, { version, row })
  return row
}

/** The settings of a store as they stand: a transaction sees what another one of its group has changed. */
export const settingsIn = async (db: Reader) => (await settingsRow.get(db)) as Settings

/** Refuses with 404 what belongs to a tool that the store has turned off. */
export async function requireTool(keyed: Keyed, tool: keyof Settings['tools']) {
  if (!(await settingsOf(keyed)).tools[tool]) throw new Refusal(404, `${tool} is turned off in this store`)
}

/** The request of a route as it asks for a write: what its client, who has hung up, asked for is not begun any more. */
export const askedBy = (request: Request, { method, path }: Pick<Route, 'method' | 'path'>) => ({
  isAbandoned: () => request.signal.aborted,
  name: `${method} ${path}`,
})

/** Guesses by the client of a request, which count for what is guessed at and for the client. */
const guessesOf =
  (visitors: Surroundings['visitors'], request: Request, { store, environment }: Session): Guesses =>
  (subject, look) => {
    const client = visitors && `guesses of ${visitors.clientOf(request)} at ${store.id} ${environment}`
    return guess({ limiter: visitors?.guesses ?? null, names: [subject, client ?? ''] }, look)
  }

/** Counts a visitor's submission by the client that it is from; keys of merchants are not counted. */
function countSubmission(visitors: Surroundings['visitors'], request: Request, session: Session) {
  if (!visitors || !isStorefront(session)) return
  const limiter = visitors.isForwarded(request) ? visitors.submissions : visitors.relayed
  take(limiter, visitors, request, ownerOf({ session }))
}

/** The same of a visitor without a key; null: of no store yet. */
export function countVisitor(visitors: Surroundings['visitors'], request: Request, owner: Owner | null) {
  if (visitors) take(visitors.submissions, visitors, request, owner)
}

function take(limiter: RateLimiter, { clientOf }: Visitors, request: Request, owner: Owner | null) {
  const { retryAfterSeconds: wait } = limiter.take(
    `${clientOf(request)} at ${owner ? `${owner.storeId} ${owner.environment}` : 'no store'}`,
  )
  if (wait) throw new Refusal(429, `too much was sent from this address: wait ${wait} s`, {}, { 'retry-after': String(wait) })
}

/** What a handler asks for that follows its answer. */
const following = (tasks: Task[]): Pick<AnyCall, 'after' | 'undo'> => ({
  after: (run, when = 'success') => void tasks.push({ run, when }),
  undo: (run) => void tasks.push({ run, when: 'undo' }),
})

/** The parts of a path, ids as they are stored: UUIDs in lower case. */
const named = (params: Record<string, string>) => {
  for (const name in params) if (isUuid(params[name]!)) params[name] = params[name]!.toLowerCase()
  return params
}

/** The call of a request; each of its writes is a transaction of its own, with its audit row. */
export function callOf(
  route: Route,
  keyed: Keyed,
  { services, log, visitors }: Pick<Surroundings, 'services' | 'log' | 'visitors'>,
  query: unknown,
  { body, file }: Pick<Received, 'body' | 'file'>,
): AnyCall {
  const { handle, session, via, request, requestId, params, tasks } = keyed
  const { clock } = services
  let inside: Db | null = null
  const call: AnyCall = {
    session,
    db: handle.read,
    query,
    body,
    file,
    params: named(params),
    request,
    requestId,
    via,
    services,
    log,
    guesses: guessesOf(visitors, request, session),
    countSubmission: () => countSubmission(visitors, request, session),
    clock,
    prepared: undefined,
    now: clock.now().toISOString(),
    storefront: isStorefront(session),
    settings: () => (inside ? settingsIn(inside) : settingsOf(keyed)),
    ...following(tasks),
    write: (fn) =>
      handle.write(
        async (tx) => {
          inside = tx
          try {
            return await audited(route, call, tx, fn)
          } finally {
            inside = null
          }
        },
        askedBy(request, route),
      ),
  }
  return call
}

interface Strange {
  route: Route
  prepared: unknown
  tasks: Task[]
}

/** The call of a request without a key, in the store that it is about. Nothing of it goes into the audit log: that names keys. */
export const strangerIn = (handle: Handle, call: AnyCall, { route, prepared, tasks }: Strange): AnyCall => ({
  ...call,
  ...following(tasks),
  prepared,
  db: handle.read,
  write: (fn) => handle.write(fn, askedBy(call.request, route)),
})

/** The same call, with all its reads and writes in one transaction that is open already. */
export function joined(route: Route, call: AnyCall, tx: Db): AnyCall {
  return { ...call, db: tx, settings: () => settingsIn(tx), write: (fn) => audited(route, call, tx, fn) }
}

/** Runs a change and writes its audit row, in one transaction. */
async function audited<T>(
  route: Route,
  { session, clock, requestId, via, now, request }: AnyCall,
  tx: Db,
  fn: (tx: Db) => Promise<T>,
): Promise<T> {
  const result = await fn(tx)
  if (!route.options.unaudited && session) {
    await insertAudit(tx, {
      id: clock.id(),
      keyId: session.key.id,
      keyName: session.key.name,
      method: request.method,
      path: loggable(pathOf(request.url), route.path).slice(0, 500),
      resource: route.path.split('/')[1]!,
      requestId,
      via,
      createdAt: now,
    })
  }
  return result
}
