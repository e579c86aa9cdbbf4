/**
 * The OpenAPI document of the last release, and what of it another document breaks. A release writes it anew:
 * `bun test/contract/released.ts`.
 */
import { describe } from '../../api/openapi/describe.ts'
import { openapi } from '../../api/openapi/document.ts'
import { resources } from '../../api/resources.ts'
import { webhookEvents } from '../../api/webhook-events.ts'
import type { Route } from '../../api/http/route.ts'
import { version } from '../../package.json'
import { resolve, type Json } from './operations.ts'

const FILE = new URL('released.json.gz', import.meta.url).pathname

/** The document of this code with some more routes, made without a database. */
export function documentWith(more: readonly Route[] = []): Json {
  const about = { baseUrl: '/api/v1', version, contentUrl: 'https://stoa.example', events: webhookEvents }
  const routes = [...more, ...resources.flatMap((resource) => resource.routes)]
  return openapi([...describe(routes, about).routes, ...routes], about)
}

/** The document of the last release. */
export const released = async (): Promise<Json> => JSON.parse(new TextDecoder().decode(Bun.gunzipSync(await Bun.file(FILE).bytes())))

/** Who reads what a schema describes: of a request the server, which may take more than before, of an answer the client. */
type Side = 'request' | 'answer'

/** Keywords that say what a value is. */
const MEANINGS = ['const', 'format', 'pattern', 'contentMediaType', 'multipleOf']
const LOWER = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']
const UPPER = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']

const list = (value: unknown): unknown[] => (value === undefined ? [] : [value].flat())
const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
/** Whether an example still shows all that it showed. */
const shows = (was: any, is: any): boolean =>
  was && is && typeof was === 'object' ? Object.keys(was).every((name) => shows(was[name], is[name])) : was === is

/** What a client of one document would miss in another, each with its place; nothing when it only has more. */
export function broken(was: Json, is: Json): string[] {
  const problems: string[] = []
  const seen = new Set<string>()
  const expect = (holds: boolean, problem: string) => holds || problems.push(problem)

  function schema(old: Json, now: Json | undefined, side: Side, at: string) {
    if (!now) return problems.push(`${at} is gone`)
    if (old.$ref) {
      const name = old.$ref.split('/').at(-1)
      if (old.$ref !== now.$ref) return problems.push(`${at} is no longer ${name}`)
      if (seen.has(`${side} ${name}`)) return
      seen.add(`${side} ${name}`)
      return schema(resolve(was, old), is.components.schemas[name], side, name)
    }
    now = resolve(is, now)
    values(old, now, side, at)
    for (const [name, part] of Object.entries((old.properties ?? {}) as Json)) schema(part, now.properties?.[name], side, `${at}.${name}`)
    for (const [name, part] of Object.entries((old.patternProperties ?? {}) as Json))
      schema(part, now.patternProperties?.[name], side, `${at}.{${name}}`)
    if (old.items) schema(old.items, now.items, side, `${at}[]`)
    if (typeof old.additionalProperties === 'object') schema(old.additionalProperties, now.additionalProperties, side, `${at}.{}`)
    for (const kind of ['anyOf', 'allOf'])
      for (const [i, part] of list(old[kind]).entries()) schema(part as Json, now[kind]?.[i], side, `${at} (${i + 1})`)
  }

  /** What a schema says of values: a request may be less strict than before, an answer more. */
  function values(old: Json, now: Json, side: Side, at: string) {
    const [strict, loose] = side === 'request' ? [old, now] : [now, old]
    expect(!loose.type || list(strict.type).every((type) => list(loose.type).includes(type)), `${at} has the type ${now.type}`)
    expect(
      list(loose.required).every((name) => list(strict.required).includes(name)),
      `${at} needs other fields: ${now.required}`,
    )
    for (const value of old.enum ?? []) expect(!now.enum || now.enum.includes(value), `${at} can not be ${value}`)
    expect(!loose.enum || !!strict.enum, `${at} is one of ${now.enum}`)
    expect(shows(old.examples ?? [], now.examples ?? []), `${at} has other examples`)
    expect(same(old.default, now.default), `${at} has the default ${now.default}`)
    for (const name of MEANINGS) expect(loose[name] === undefined || same(strict[name], loose[name]), `${at} has the ${name} ${now[name]}`)
    for (const name of LOWER) expect(!(loose[name] > (strict[name] ?? -Infinity)), `${at} has the ${name} ${now[name]}`)
    for (const name of UPPER) expect(!(loose[name] < (strict[name] ?? Infinity)), `${at} has the ${name} ${now[name]}`)
  }

  function contents(old: Json, now: Json | undefined, side: Side, at: string) {
    for (const [type, media] of Object.entries((old.content ?? {}) as Json)) {
      schema(media.schema, now?.content?.[type]?.schema, side, `${at} ${type}`)
      expect(shows(media.example, now?.content?.[type]?.example), `${at} ${type} has another example`)
    }
  }

  function parameters(old: Json, now: Json, at: string) {
    const byName = (document: Json, { parameters }: Json) =>
      new Map<string, Json>(parameters.map((one: Json) => resolve(document, one)).map((one: Json) => [`${one.in} ${one.name}`, one]))
    const [before, after] = [byName(was, old), byName(is, now)]
    for (const [name, one] of before) {
      schema(one.schema, after.get(name)?.schema, 'request', `${at} ${name}`)
      expect(shows(one.example, after.get(name)?.example), `${at} ${name} has another example`)
    }
    for (const [name, { required }] of after) expect(!required || before.get(name)?.required, `${at} ${name} is required`)
  }

  for (const [path, methods] of Object.entries(was.paths as Json))
    for (const [method, old] of Object.entries(methods as Json)) {
      const now = is.paths[path]?.[method]
      const at = `${method} ${path}`
      if (!now) problems.push(`${at} is gone`)
      else {
        expect(old.operationId === now.operationId && same(old.tags, now.tags), `${at} is now ${now.tags} ${now.operationId}`)
        const needed = list(now['x-scopes'])
        const opened = list(old['x-scopes']).every((scope) => needed.includes(scope)) && (old['x-scopes'] || !needed.length)
        expect(opened && (!now.security.length || old.security.length), `${at} needs ${needed.join(' or ') || 'a key'}`)
        parameters(old, now, at)
        expect(!now.requestBody?.required || old.requestBody?.required, `${at} needs a body`)
        if (old.requestBody) contents(old.requestBody, now.requestBody, 'request', at)
        for (const [status, answer] of Object.entries(old.responses as Json))
          if (Number(status) < 400) {
            expect(now.responses[status], `${at} never answers ${status}`)
            contents(answer, now.responses[status], 'answer', `${at} ${status}`)
          }
      }
    }
  for (const [name, answer] of Object.entries(was.components.responses as Json))
    contents(answer, is.components.responses[name], 'answer', name)
  return problems
}

if (import.meta.main) await Bun.write(FILE, Bun.gzipSync(JSON.stringify(documentWith()), { level: 9 }))
