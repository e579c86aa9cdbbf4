/** The frontmatter of each kind of page (content/README.md). */
import { FormatRegistry, Type, type Static, type TObject } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

FormatRegistry.Set('date', (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)))

const strict = { additionalProperties: false }
const Title = Type.String({ minLength: 2, maxLength: 60 })
const Summary = Type.String({ minLength: 50, maxLength: 160, pattern: '[.?!]$' })
const Day = Type.String({ format: 'date' })
const FRONTMATTER = {
  docs: Type.Object(
    { title: Title, summary: Summary, updated: Day, describes: Type.Optional(Type.Array(Type.String({ pattern: '^/' }), { minItems: 1 })) },
    strict,
  ),
  help: Type.Object(
    { title: Title, summary: Summary, updated: Day, describes: Type.Optional(Type.Array(Type.String({ pattern: '^/' }), { minItems: 1 })) },
    strict,
  ),
  blog: Type.Object(
    {
      title: Title,
      summary: Summary,
      date: Day,
      tags: Type.Array(Type.String({ minLength: 2, maxLength: 30 }), { minItems: 1, maxItems: 4 }),
    },
    strict,
  ),
  changelog: Type.Object(
    {
      version: Type.String({ pattern: '^\\d+\\.\\d+\\.\\d+$' }),
      date: Day,
      headline: Title,
      fixes: Type.Array(Type.String({ minLength: 10, maxLength: 300 })),
    },
    strict,
  ),
} satisfies Record<string, TObject>

export type Kind = keyof typeof FRONTMATTER
export type Frontmatter = { [K in Kind]: Static<(typeof FRONTMATTER)[K]> }

/** The frontmatter of a file, checked; what YAML took for a date is text again. */
export function frontmatterOf<K extends Kind>(kind: K, data: Record<string, unknown>, problem: (text: string) => void): Frontmatter[K] {
  const values = Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, value instanceof Date ? value.toISOString().slice(0, 10) : value]),
  )
  for (const { path, message } of Value.Errors(FRONTMATTER[kind], values))
    problem(`${path.slice(1) || 'frontmatter'}: ${message.toLowerCase()}`)
  return values as Frontmatter[K]
}
