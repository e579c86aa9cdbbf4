/** `/openapi` and `/docs`: the API describes itself, from the routes that answer (document 1, What the service does). */
import { docsPage } from './docs-page.ts'
import { openapi } from './openapi.ts'
import { Reply, resource, type Resource, type Route } from './route.ts'

/** Keeps what `make` returns, from its first use on. */
function once<T>(make: () => T): () => T {
  let kept: { value: T } | undefined
  return () => (kept ??= { value: make() }).value
}

/** The two routes that describe `routes` and themselves; nothing is built before the first request. */
export function describe(routes: readonly Route[], about: { baseUrl: string; version: string }): Resource {
  const document = once(() => openapi([...own.routes, ...routes], about))
  const json = once(() => JSON.stringify(document()))
  const page = once(() => docsPage(document()))
  const own: Resource = resource('store', '')
    .get(
      '/openapi',
      { op: 'getOpenapi', summary: 'This API as an OpenAPI 3.1 document', scope: 'public', answers: { 200: 'application/json' } },
      () => new Reply(200, json(), { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'public, no-cache' }),
    )
    .get(
      '/docs',
      { op: 'getDocs', summary: 'This API as a page to read', scope: 'public', answers: { 200: 'text/html; charset=utf-8' } },
      () =>
        new Reply(200, page().html, {
          'content-security-policy': page().policy,
          'cache-control': 'public, no-cache',
          'x-content-type-options': 'nosniff',
          'referrer-policy': 'no-referrer',
        }),
    )
  return own
}
