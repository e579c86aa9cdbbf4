/** The operations of the OpenAPI document, as the contract and fuzz tests call them. */
import { expect } from 'vitest'
import type { Answer, CallOptions, Send } from '../harness.ts'

export type Json = Record<string, any>

export interface Operation {
  /** `createCoupon: POST /coupons`, for messages. */
  title: string
  id: string
  method: string
  path: string
  scopes: readonly string[]
  isPublic: boolean
  /** Query parameters by name, each with its schema. */
  query: Record<string, Json>
  /** The query parameters that can't be left out, filled in. */
  needed: string
  /** Names of the path's parameters. */
  params: string[]
  /** The JSON body's schema and example; null without one. */
  body: { schema: Json; example: any; required: boolean } | null
  /** Takes a form with a file: its example, and the name of the file's field. */
  form: { example: Json; field: string } | null
  isUpload: boolean
  statuses: ReadonlySet<number>
}

/** The schema that a `$ref` names, or the schema itself. */
export const resolve = (document: Json, schema: Json): Json =>
  typeof schema.$ref === 'string'
    ? resolve(
        document,
        schema.$ref
          .split('/')
          .slice(1)
          .reduce((at: Json, part: string) => at[part], document),
      )
    : schema

export function operationsOf(document: Json): Operation[] {
  return Object.entries(document.paths as Record<string, Json>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, about]): Operation => {
      const parameters: Json[] = about.parameters.map((parameter: Json) => resolve(document, parameter))
      const json = about.requestBody?.content['application/json']
      const form = about.requestBody?.content['multipart/form-data']
      return {
        title: `${about.operationId}: ${method.toUpperCase()} ${path}`,
        id: about.operationId,
        method: method.toUpperCase(),
        path,
        scopes: about['x-scopes'] ?? [],
        isPublic: about.security.length === 0,
        query: Object.fromEntries(parameters.filter((parameter) => parameter.in === 'query').map(({ name, schema }) => [name, schema])),
        needed: parameters
          .filter((parameter) => parameter.in === 'query' && parameter.required)
          .map(({ name, example }) => `${name}=${encodeURIComponent(example)}`)
          .join('&'),
        params: parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name),
        body: json ? { schema: resolve(document, json.schema), example: json.example, required: about.requestBody.required } : null,
        form: form ? formOf(document, form) : null,
        isUpload: form !== undefined,
        statuses: new Set(Object.keys(about.responses).map(Number)),
      }
    }),
  )
}

/** A form with a file; one without is another way to write the JSON. */
function formOf(document: Json, { schema, example }: Json) {
  const [field] =
    Object.entries(resolve(document, schema).properties as Record<string, Json>).find(([, { contentMediaType }]) => contentMediaType) ?? []
  return field === undefined ? null : { example, field }
}

const shapeOf = (path: string) => path.replace(/\{\w+\}/g, '{}')

/** The operation of a documented path, whatever its parameters are called; a template may stand for a word, as `/addons/{name}` for `/addons/carrier_a`. */
export const operationAt = (operations: readonly Operation[], method: string, path: string) =>
  operations.find((operation) => operation.method === method && shapeOf(operation.path) === shapeOf(path)) ??
  operations.find((operation) => operation.method === method && new RegExp(`^${operation.path.replace(/\{\w+\}/g, '[^/{]+')}$`).test(path))

/** Whether a path parameter names a resource of the store, rather than one of a few words or a secret. */
export const isIdentifier = (name: string) => /^id$|Id$|^idOr/.test(name)

/** A path with its parameters filled in. */
export const fill = (path: string, value: (name: string, prefix: string) => string) =>
  path.replace(/\{(\w+)\}/g, (_, name: string, at: number) => encodeURIComponent(value(name, path.slice(0, at).replace(/\/$/, ''))))

/** A UUID v7 that nothing has. */
export const nobody = () => Bun.randomUUIDv7()

/** Values of path parameters that are not identifiers. */
export const WORDS: Record<string, string> = { locale: 'pl-PL', code: 'SPRING10', kind: 'terms', handle: 'nobody', token: 'no-such-token' }

const CODES = new Set([
  'invalid_type',
  'required',
  'too_small',
  'too_big',
  'invalid_string',
  'invalid_enum_value',
  'unrecognized_keys',
  'custom',
])

/** Errors that name the page about the operation (document 8, Strictness). */
const DOCUMENTED = new Set([400, 403, 404, 409])

/** What is wrong with an error body, or null (document 1, Errors; document 3, details). */
export function errorProblem({ status, headers, body }: Answer): string | null {
  if (!headers.get('content-type')?.startsWith('application/json')) return `${status} is not JSON`
  if (typeof body?.error !== 'string' || !body.error) return `${status} has no error text`
  if (DOCUMENTED.has(status) && !body.documentationUrl?.startsWith('https://stoa.example/docs/api-reference/'))
    return `${status} has no page to read`
  if (body.details === undefined) return null
  if (!Array.isArray(body.details) || !body.details.length) return `${status} has empty details`
  for (const { code, message, path } of body.details) {
    if (!CODES.has(code)) return `details have the code ${code}`
    if (typeof message !== 'string' || !message) return 'details have no message'
    if (!Array.isArray(path) || path.some((part: unknown) => typeof part !== 'string')) return 'details have no path of strings'
  }
  return null
}

/** Calls operations and keeps what no answer may be: 5xx, 422, a status that is not described, an error in another form. */
export class Caller {
  readonly problems = new Map<string, string>()
  calls = 0
  constructor(
    readonly send: Send,
    readonly key: string | null,
  ) {}

  async call(operation: Operation, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> {
    this.calls++
    const answer = await this.send(operation.method, path, body, { key: this.key, ...options })
    const problem = this.#problem(operation, answer)
    if (problem && !this.problems.has(`${operation.id} ${problem}`)) {
      const sent = String(options.raw ?? (body === undefined ? '' : JSON.stringify(body)))
      this.problems.set(
        `${operation.id} ${problem}`,
        `${operation.title}: ${problem}\n  ${operation.method} ${path.slice(0, 300)} ${sent.slice(0, 600)}\n  ${answer.text.slice(0, 300)}`,
      )
    }
    return answer
  }

  #problem({ statuses }: Operation, answer: Answer): string | null {
    const { status } = answer
    if (status >= 500 && !(status === 502 && statuses.has(502))) return `answers ${status}`
    if (status === 422) return 'answers 422'
    if (!statuses.has(status)) return `answers ${status}, which it does not describe`
    if (!answer.headers.get('x-request-id')) return 'has no X-Request-Id'
    return status >= 400 ? errorProblem(answer) : null
  }

  /** Expects that nothing was wrong with any answer. */
  verify() {
    expect([...this.problems.values()].join('\n\n')).toBe('')
  }
}
