/** From a path to the route that answers it: Elysia finds it, and what it finds nothing for is refused with what may have been meant. */
import { Elysia } from 'elysia'
import { Memoirist } from 'memoirist'
import { Refusal } from '../../values/refusal.ts'
import type { Pipeline } from '../pipeline.ts'
import type { Route } from '../route.ts'
import { isDecodable, pathOf } from '../url.ts'
import { NearestPaths } from './nearest-paths.ts'
import { Paths } from './paths.ts'

/** No path of the API comes near. */
export const PATH_MAX_LENGTH = 2_048

type Context = { request: Request; params: Record<string, string> }

/** The routes of the API below a prefix. */
export class Router {
  // A host may be shorter than Elysia takes hosts to be, which looks for the path behind it.
  readonly #elysia = new Elysia({ normalize: false, handler: { standardHostname: false } })
  readonly #paths = new Paths()
  readonly #nearest: NearestPaths
  /** Routes that are read, found without a request to the router. */
  readonly #reads = new Memoirist<Route>()

  constructor(
    readonly prefix: string,
    routes: readonly Route[],
    readonly pipeline: Pipeline,
  ) {
    this.#nearest = new NearestPaths(routes.map(({ path }) => prefix + path))
    const patternOf = ({ path }: Route) => prefix + path.replace(/\{(\w+)\}/g, ':$1')
    for (const route of routes) this.#paths.add(patternOf(route), route.method)
    for (const route of routes) if (route.method === 'GET') this.#reads.add('GET', patternOf(route), route)
    for (const route of routes) {
      const isStranger = this.#paths.strangers(patternOf(route))
      const handler = ({ request, params }: Context) =>
        isStranger?.(pathOf(request.url)) ? this.unknown(request) : pipeline.answer(route, request, params)
      this.#elysia.route(route.method, patternOf(route), handler, { parse: 'none' })
    }
    this.#elysia.onError({ as: 'global' }, ({ request, code, error }) =>
      code === 'NOT_FOUND' ? this.unknown(request) : pipeline.refuseUnrouted(request, error),
    )
  }

  /** The route that reads a path without escapes, with what its braces stand for; null when there is none. */
  readAt(path: string): { route: Route; params: Record<string, string> } | null {
    const found = path.includes('%') ? null : this.#reads.find('GET', path)
    return found && { route: found.store, params: found.params }
  }

  /** Answers a request whose path begins with the prefix; one for HEAD has to come as GET. */
  async answer(request: Request, path: string): Promise<Response> {
    if (path.length > PATH_MAX_LENGTH)
      return this.pipeline.refuseUnrouted(request, new Refusal(414, `the path has more than ${PATH_MAX_LENGTH} characters`))
    if (path.includes('%') && !isDecodable(path))
      return this.pipeline.refuseUnrouted(request, new Refusal(400, 'the path has a broken percent escape'))
    return this.#elysia.handle(request)
  }

  /** 405 for a path that has other methods, 404 for one that has none. */
  unknown(request: Request): Response {
    const path = pathOf(request.url)
    const allowed = this.#paths.methodsOf(path)
    if (!allowed) return this.pipeline.refuseUnrouted(request, this.#nowhere(path))
    const allow = [...allowed, ...(allowed.has('GET') ? ['HEAD'] : [])].join(', ')
    return this.pipeline.refuseUnrouted(request, new Refusal(405, `${request.method} is not possible here`, {}, { allow }))
  }

  /** 404 for a path that leads nowhere, with those that it may be mistaken for. */
  #nowhere(path: string): Refusal {
    const near = this.#nearest.to(path)
    const hint = `GET ${this.prefix}/openapi lists the endpoints`
    return new Refusal(404, `no endpoint at ${path.slice(0, 200)}`, {
      hint: near.length ? `Perhaps ${near.join(' or ')}; ${hint}` : hint,
      nearest: near,
    })
  }
}
