/** The frontmatter of each kind of page (content/README.md). */
import { FormatRegistry, Type, type Static, type TObject } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

FormatRegistry.Set('date', (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)))

const strict = { additionalProperties: false }
const Title = Type.String({ minLength: 2, maxLength: 60 })
const Summary = Type.String({ minLength: 50, maxLength: 160, pattern: '[.?!]$' })
export const Day = Type.String({ format: 'date' })
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

const HOME = Type.Object({ title: Title, summary: Summary }, strict)

/** What YAML took for a date is text again. */
const texts = (data: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(data).map(([name, value]) => [name, value instanceof Date ? value.toISOString().slice(0, 10) : value]))

function checked(schema: TObject, data: Record<string, unknown>, problem: (text: string) => void): unknown {
  const values = texts(data)
  for (const { path, message } of Value.Errors(schema, values)) problem(`${path.slice(1) || 'frontmatter'}: ${message.toLowerCase()}`)
  return values
}

/** The frontmatter of a file, checked. */
export const frontmatterOf = <K extends Kind>(kind: K, data: Record<string, unknown>, problem: (text: string) => void) =>
  checked(FRONTMATTER[kind], data, problem) as Frontmatter[K]

/** That of the home page. */
export const homeFrontmatterOf = (data: Record<string, unknown>, problem: (text: string) => void) =>
  checked(HOME, data, problem) as Static<typeof HOME>
