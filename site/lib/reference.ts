/** The generated parts of the API reference, from the OpenAPI document that the store API makes of the very schemas that its handlers use. */
import { resources } from '../../api/resources.ts'
import { webhookEvents } from '../../api/webhook-events.ts'
import { openapi } from '../../api/openapi/document.ts'
import { code, Reference, resolve } from '../../api/openapi/reference.ts'
import type { Json } from '../../api/openapi/schemas.ts'
import { STOREFRONT_SCOPES } from '../../db/control/registry.ts'
import { commandFor } from './curl.ts'
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

/** The request of an operation with the examples of its parameters and its body, as a block; null for a form, which has files. */
function exampleOf(document: Json, method: string, path: string, { parameters, requestBody, security }: Json): string | null {
  const content = requestBody?.content
  if (content && !content['application/json']) return null
  const given = (parameters as Json[]).map((parameter) => resolve(document, parameter))
  const valueOf = ({ example, schema }: Json) =>
    encodeURIComponent(String(example ?? schema?.example ?? schema?.enum?.[0] ?? schema?.default ?? ''))
  const filled = given.reduce(
    (so, parameter) => (parameter.in === 'path' ? so.replace(`{${parameter.name}}`, valueOf(parameter)) : so),
    path,
  )
  const query = given
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map((parameter) => `${parameter.name}=${valueOf(parameter)}`)
  const scopes: string[] = security.flatMap((one: Json) => Object.values(one).flat())
  const isOfStorefronts = scopes.length > 0 && scopes.every((scope) => STOREFRONT_SCOPES.includes(scope))
  const command = commandFor({
    method: method.toUpperCase(),
    path: filled + (query.length ? `?${query.join('&')}` : ''),
    key: security.length ? (isOfStorefronts ? 'STOREFRONT_KEY' : 'API_KEY') : null,
    body: content?.['application/json'].example,
  })
  return `\`\`\`sh norun example\n${command}\n\`\`\``
}

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
        const example = exampleOf(document, method, path, methods[method])
        return [`### ${methods[method].summary}`, place, reference.operation(methods[method]), ...(example ? [example] : [])].join('\n\n')
      })
    })
    return [STATUSES, ...operations].join('\n\n')
  })
}
