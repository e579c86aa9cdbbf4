/** The three analyses as the content API offers them: what is asked for, how often, what comes of it. */
import { NotFetched, type Hindrance } from '../../api/outside/not-fetched.ts'
import type { Places } from '../../api/outside/public-places.ts'
import type { Fields } from '../../api/hosting/prepared.ts'
import type { Problem } from '../lib/problem.ts'
import { Busy, type Desk } from './desk.ts'
import type { Limits } from './limits.ts'
import type { OperationName } from './operations.ts'
import { targetOf } from './target.ts'

/** Makes a report of a URL. Throws `NotFetched` where there is none, also when the signal says that nobody wants it. */
type Make = (operation: OperationName, url: URL, asker: Asker) => Promise<object>

interface AnalysesNeeds {
  limits: Limits
  desk: Desk
  /** What may be looked at, without asking for anything. */
  places: Pick<Places, 'refusal'>
  /** `FETCH_ALLOW` */
  allow: readonly string[]
  make: Make
}

/** What a request comes to: a report or a problem, with the headers that say where the client stands. */
export type Outcome = { fields: Fields } & ({ report: object; cached: boolean } | { problem: Problem })

/** `client` is what requests are counted by. */
interface Asker {
  client: string
  signal: AbortSignal
}

const limited = (operation: OperationName, seconds: number): Problem => ({
  status: 429,
  code: 'rate_limited',
  detail: `${operation} has been asked for too often from this address.`,
  resolution: `Wait ${seconds} s, as Retry-After says.`,
})

/** What to do about it. */
const ADVICE: Partial<Record<Hindrance, string>> = {
  'no-host': 'Check the spelling of the address.',
  'refused-here': 'Give the address of a page that anybody can open.',
  certificate: 'Mend the certificate: browsers warn visitors of it, too.',
  redirects: 'Give the address that it leads to.',
}

/** What a failure means to whoever asked. Throws what is a defect of ours. */
function problemOf(error: unknown): { problem: Problem; fields: Fields } {
  if (error instanceof Busy) {
    const detail = 'As many analyses are under way as can be at once.'
    const problem = { status: 503, code: 'overloaded', detail, resolution: `Ask again in ${error.retryAfterSeconds} s.` } as const
    return { problem, fields: { 'retry-after': String(error.retryAfterSeconds) } }
  }
  if (!(error instanceof NotFetched)) throw error
  const detail = `The page can't be analysed: ${error.message}.`
  const resolution = ADVICE[error.hindrance] ?? 'Open the address in a browser. If it answers there, ask again in a minute.'
  return { problem: { status: 502, code: 'upstream_unavailable', detail, resolution }, fields: {} }
}

export class Analyses {
  constructor(readonly needs: AnalysesNeeds) {}

  /** What the query of a request asks for. Throws what is a defect of ours, and the reason of the signal when whoever asked is gone. */
  async ask(operation: OperationName, query: string, { client, signal }: Asker): Promise<Outcome> {
    const { limits, desk, places, allow, make } = this.needs
    const target = targetOf(query, places, allow)
    const isMistake = !(target instanceof URL)
    const { fields, retryAfterSeconds } = limits.take(operation, isMistake ? 'mistakes' : 'analyses', client)
    if (retryAfterSeconds) return { problem: limited(operation, retryAfterSeconds), fields }
    if (isMistake) return { problem: target, fields }
    try {
      const { report, ageSeconds } = await desk.ask(operation, target, signal, (ended) =>
        make(operation, target, { client, signal: ended }),
      )
      const age: Fields = ageSeconds === null ? {} : { age: String(ageSeconds) }
      return { report, cached: ageSeconds !== null, fields: { ...fields, ...age } }
    } catch (error) {
      const { problem, fields: more } = problemOf(error)
      return { problem, fields: { ...fields, ...more } }
    }
  }
}
