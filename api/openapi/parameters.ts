/** The parameters of an operation: those of its path, its query and its headers. */
import { parameter, PARAMETERS } from './common.ts'
import { exampleOf } from './examples.ts'
import type { Json, Show } from './schemas.ts'
import type { Route } from '../http/route.ts'
import { Type, Uuid } from '../http/schema.ts'

const IDENTIFIERS: Record<string, string> = {
  id: 'UUID',
  idOrSlug: 'UUID or slug',
  idOrCode: 'UUID or code',
  locale: 'Locale code, such as `pl-PL`',
  code: 'Code',
  token: 'Secret token',
  slug: 'Slug',
  email: 'Email address',
  kind: 'Kind',
  handle: 'Account handle',
}

/** What some parts of paths hold, where their names do not say it. */
const HELD: Readonly<Record<string, string>> = { team: 'member', media: 'image', deliveries: 'delivery' }

/** What the parameter behind a part of a path names: `order` in `/orders/{id}`. */
const heldBy = (part: string) =>
  HELD[part] ??
  part
    .replace(/ies$/, 'y')
    .replace(/(ss)es$/, '$1')
    .replace(/s$/, '')
    .replaceAll('-', ' ')

/** The parameters that a path names. */
export function pathParameters(path: string): Json[] {
  return [...path.matchAll(/([\w-]*)\/\{(\w+)\}/g)].map(([, before, name]) => {
    const of = name!.endsWith('Id')
      ? `UUID of the ${name!
          .slice(0, -2)
          .replace(/([A-Z])/g, ' $1')
          .toLowerCase()}`
      : name!
    return {
      name,
      in: 'path',
      required: true,
      description: /^id(Or|$)/.test(name!) ? `${IDENTIFIERS[name!]} of the ${heldBy(before!)}` : (IDENTIFIERS[name!] ?? of),
      schema: { type: 'string' },
      example: exampleOf(
        /^id$|Id$/.test(name!) ? Uuid() : Type.String(),
        name!.replace(/^idOr(.)/, (_, first: string) => first.toLowerCase()),
      ),
    }
  })
}

function queryParameters({ query }: Route, show: Show): Json[] {
  const required = new Set(query?.required as string[] | undefined)
  return Object.entries(query?.properties ?? {}).map(([name, schema]) => {
    const { description, ...shown } = show(schema, true)
    const needed = required.has(name) && schema.default === undefined
    return {
      name,
      in: 'query',
      required: needed,
      ...(description ? { description } : {}),
      schema: shown,
      ...(needed ? { example: exampleOf(schema, name) } : {}),
      ...(schema.type === 'array' ? { style: 'form', explode: false } : {}),
    }
  })
}

/** The headers that change how the request is carried out. */
function headerParameters({ method, options }: Route): Json[] {
  const names: (keyof typeof PARAMETERS)[] = ['RequestId', 'Prefer']
  if (method === 'GET') names.push('IfNoneMatch')
  else if (options.scope !== 'public') names.push(method === 'POST' ? 'IdempotencyKey' : 'IfMatch')
  return names.map(parameter)
}

/** All parameters of a route. */
export const parametersOf = (route: Route, show: Show): Json[] => [
  ...pathParameters(route.path),
  ...queryParameters(route, show),
  ...headerParameters(route),
]
