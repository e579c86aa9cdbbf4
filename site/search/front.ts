/**
 * Which requests of the site are searches, and how they are answered: `/api/search` as JSON, `/search` as a page, `/search.md` as Markdown.
 * A client has so many a second over all of them, and over the tool `search_docs`, which asks for the first.
 */
import { formFor } from '../../api/hosting/negotiate.ts'
import { searchOf } from '../../api/http/url.ts'
import { WindowLimiter } from '../../api/server/window-limit.ts'
import type { Answers } from '../lib/answers.ts'
import { SEARCH } from '../lib/headers.ts'
import type { Problem } from '../lib/problem.ts'
import { FOUND, type Found } from '../lib/search.ts'
import { SEARCHES } from './limit.ts'
import { jsonWith, pageOf, wanted, wordsIn, type Made } from './made.ts'
import { Overloaded, type Searcher } from './searcher.ts'

const SEARCH_API = '/api/search'
const GONE = 499
const BUSY_SECONDS = 1

const limited = (seconds: number): Problem => ({
  status: 429,
  code: 'rate_limited',
  detail: `More than ${SEARCHES.requests} searches in a second have come from this address.`,
  resolution: `Wait ${seconds} s, as Retry-After says.`,
})
const OVERLOADED: Problem = {
  status: 503,
  code: 'overloaded',
  detail: 'More searches wait than can be answered soon.',
  resolution: `Ask again in ${BUSY_SECONDS} s.`,
}

interface FrontNeeds {
  answers: Answers
  searcher: Pick<Searcher, 'find'>
  /** What requests are counted by. */
  clientOf: (request: Request) => string
}

/** What a request searches for, and how what is found is shown. */
interface Asked {
  words: string
  limit: number
  show: (found: readonly Found[]) => Made
}

export class SearchFront {
  readonly #limiter = new WindowLimiter(SEARCHES)

  constructor(readonly needs: FrontNeeds) {}

  /** Answers a request for a path; null where it searches for nothing. */
  answer(request: Request, path: string): Response | Promise<Response> | null {
    if ((path !== SEARCH_API && path !== SEARCH && path !== `${SEARCH}.md`) || !/^(GET|HEAD)$/.test(request.method)) return null
    const { answers } = this.needs
    const asked = path === SEARCH_API ? this.#json(request) : this.#page(request, path)
    if (asked === null) return null
    if ('code' in asked) return answers.problem(request, asked)
    const { retryAfterSeconds, resetSeconds, remaining } = this.#limiter.take(this.needs.clientOf(request))
    if (!retryAfterSeconds) return this.#find(request, asked)
    return answers.problem(request, limited(retryAfterSeconds), {
      'retry-after': String(retryAfterSeconds),
      'ratelimit-policy': this.#limiter.policy,
      ratelimit: `"default";r=${remaining};t=${resetSeconds}`,
      'access-control-expose-headers': 'RateLimit, RateLimit-Policy, Retry-After',
    })
  }

  #json(request: Request): Asked | Problem {
    const asked = wanted(searchOf(request.url))
    if ('code' in asked) return asked
    const { headers } = this.needs.answers
    return { words: asked.q, limit: asked.limit, show: (found) => jsonWith(found, headers.base) }
  }

  #page(request: Request, path: string): Asked | null {
    const { answers } = this.needs
    const words = wordsIn(searchOf(request.url))
    const form = path === SEARCH ? formFor(request.headers.get('accept')) : 'markdown'
    if (!words || !form) return null
    return { words, limit: FOUND, show: (found) => pageOf({ words, found, form }, answers.headers, () => answers.template(SEARCH)) }
  }

  async #find(request: Request, { words, limit, show }: Asked): Promise<Response> {
    const { answers, searcher } = this.needs
    try {
      return answers.whole(request, show(await searcher.find(words, limit, request.signal)))
    } catch (error) {
      // Who is gone hears nothing; the log has the status that nginx gives it.
      if (request.signal.aborted) return new Response(null, { status: GONE })
      if (error instanceof Overloaded) return answers.problem(request, OVERLOADED, { 'retry-after': String(BUSY_SECONDS) })
      console.error(error)
      return answers.broken(request)
    }
  }
}
