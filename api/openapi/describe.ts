/** `/openapi`, `/docs` and its console: the API describes itself, from the routes that answer (document 1, What the service does). */
import { docsPage } from './docs-page.ts'
import { ROOMS } from './common.ts'
import { consoleOf } from './console.ts'
import { openapi, roomOf, type DocumentOptions } from './document.ts'
import { Reply, resource, type Resource, type Room, type Route } from '../http/route.ts'
import { OneOf, Type } from '../http/schema.ts'

/** Keeps what `make` returns for each of a few keys, from its first use on. */
function kept<K, T>(make: (key: K) => T): (key: K) => T {
  const made = new Map<K, T>()
  return (key) => {
    if (!made.has(key)) made.set(key, make(key))
    return made.get(key)!
  }
}

/** The routes that describe `routes` and themselves; nothing is built before the first request. */
export function describe(routes: readonly Route[], options: DocumentOptions): Resource {
  const rooms = (Object.keys(ROOMS) as Room[]).filter((name) => routes.some(({ room }) => room === name))
  const document = kept(() => openapi([...own.routes, ...routes], options))
  const json = kept((room: Room | undefined) => JSON.stringify(room ? roomOf(document(null), room) : document(null)))
  const page = kept(() => docsPage(document(null)))
  const sender = consoleOf(options.baseUrl, () => document(null).info.title)
  const own: Resource = resource('store', '')
    .get(
      '/openapi',
      {
        operationId: 'getOpenapi',
        summary: 'This API as an OpenAPI 3.1 document',
        scope: 'public',
        query: { tag: Type.Optional(OneOf(rooms, { description: 'The operations of this tag alone, with the schemas that they need' })) },
        responses: { 200: 'application/json' },
      },
      ({ query: { tag } }) =>
        new Reply(200, json(tag), { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'public, no-cache' }),
    )
    .get(
      '/docs',
      { operationId: 'getDocs', summary: 'This API as a page to read', scope: 'public', responses: { 200: 'text/html; charset=utf-8' } },
      () =>
        new Reply(200, page(null).html, {
          'content-security-policy': page(null).policy,
          'cache-control': 'public, no-cache',
          'x-content-type-options': 'nosniff',
          'referrer-policy': 'no-referrer',
        }),
    )
    .get(
      '/docs/console',
      {
        operationId: 'getConsole',
        summary: 'This API as a page that sends requests',
        scope: 'public',
        responses: { 200: 'text/html; charset=utf-8' },
      },
      () => sender.page(),
    )
    .get(
      '/docs/console.js',
      {
        operationId: 'getConsoleScript',
        summary: 'The script of that page',
        scope: 'public',
        query: { v: Type.Optional(Type.String({ maxLength: 32, description: 'The version that the page names, which may be kept' })) },
        responses: { 200: 'text/javascript; charset=utf-8' },
      },
      ({ query: { v }, request }) => sender.script(v, request.headers.get('accept-encoding')),
    )
  return own
}
