/** The generated parts of the API reference, from the OpenAPI document that the store API makes of the very schemas that its handlers use. */
import { resources } from '../../api/resources.ts'
import { webhookEvents } from '../../api/webhook-events.ts'
import { openapi } from '../../api/openapi/document.ts'
import { code, Reference } from '../../api/openapi/reference.ts'
import type { Json } from '../../api/openapi/schemas.ts'
import { scopesTable } from './scopes.ts'
import { version } from '../../package.json'

/** The OpenAPI document of the store API, made without a database: routes are data. */
export const storeApi = (): Json =>
  openapi(
    resources.flatMap(({ routes }) => routes),
    { baseUrl: '/api/v1', version, contentUrl: '', events: webhookEvents },
  )

const METHODS = ['get', 'post', 'put', 'patch', 'delete']
const STATUSES =
  'What the statuses mean, and which of them every operation may answer with, is said [once for all](/docs/api-reference/overview#statuses).'

/** The tag of the operations that a page lists; null without any. */
export function tagOf(body: string, document: Json): string | null {
  const [, paths = ''] = /^<!-- operations (.*?) -->$/m.exec(body) ?? []
  const methods = document.paths[paths.split(/\s+/)[0]!] ?? {}
  return Object.values<Json>(methods)[0]?.tags?.[0] ?? null
}

/** Replaces the directions of a page by what they ask for; `problem` hears of one that names nothing of the API. */
export function withReference(body: string, document: Json, problem: (text: string) => void): string {
  const reference = new Reference(document, false)
  return body.replace(/^<!-- (\w+) ?(.*?) -->$/gm, (whole, what: string, names: string) => {
    const missing = (name: string) => {
      problem(`names ${name}, which the store API does not have`)
      return whole
    }
    if (what === 'scopes') return scopesTable(document)
    if (what === 'fields') {
      const schema = document.components.schemas[names]
      return schema ? (reference.fields(schema, false) ?? whole) : missing(names)
    }
    if (what !== 'operations') return missing(what)
    const operations = names.split(/\s+/).flatMap((path) => {
      const methods = document.paths[path]
      if (!methods) return missing(path)
      return METHODS.filter((method) => methods[method]).map((method) => {
        const place = code(`${method.toUpperCase()} ${document.servers[0].url}${path}`)
        return `### ${methods[method].summary}\n\n${place}\n\n${reference.operation(methods[method])}`
      })
    })
    return [STATUSES, ...operations].join('\n\n')
  })
}
