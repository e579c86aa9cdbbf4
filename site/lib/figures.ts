/** Measured figures: `content/figures.json`. Pages quote them as `{figure:id}`, so that none is typed twice or outlives its release. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type, type Static } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Day } from './frontmatter.ts'

const Figure = Type.Object(
  {
    id: Type.String({ pattern: '^[a-z0-9]+(-[a-z0-9]+)*$' }),
    /** As it is printed; numbers get separators. */
    value: Type.Union([Type.Number(), Type.String({ minLength: 1, maxLength: 40 })]),
    /** Behind the value; empty for a bare number. */
    unit: Type.String({ maxLength: 40 }),
    /** What was measured, in a sentence. */
    what: Type.String({ minLength: 10, maxLength: 300 }),
    date: Day,
    /** The state of the sources that was measured. */
    commit: Type.String({ pattern: '^[0-9a-f]{7,40}$' }),
    machine: Type.String({ minLength: 3, maxLength: 200 }),
    /** What measures it again. */
    command: Type.String({ minLength: 3, maxLength: 200 }),
    /** What speaks against it. */
    caveats: Type.Array(Type.String({ minLength: 10, maxLength: 300 })),
  },
  { additionalProperties: false },
)
export type Figure = Static<typeof Figure>

const FIGURES = 'content/figures.json'

export function readFigures(root: string, problem: (file: string, text: string) => void): Figure[] {
  const file = join(root, FIGURES)
  if (!existsSync(file)) return []
  const values: unknown = JSON.parse(readFileSync(file, 'utf8'))
  const [wrong] = Value.Errors(Type.Array(Figure), values)
  if (wrong) {
    problem(FIGURES, `${wrong.path}: ${wrong.message.toLowerCase()}`)
    return []
  }
  const figures = values as Figure[]
  for (const [i, { id }] of figures.entries()) if (figures.findIndex((other) => other.id === id) !== i) problem(FIGURES, `has ${id} twice`)
  return figures
}

/** Reports figures that were measured before the minor release that is current came out. */
export function requireFresh(
  figures: readonly Figure[],
  releases: readonly { version: string; date: string }[],
  problem: (file: string, text: string) => void,
) {
  const [newest] = releases
  if (!newest) return
  const minor = newest.version.split('.').slice(0, 2).join('.')
  const since = releases.findLast(({ version }) => version.startsWith(`${minor}.`))!
  for (const { id, date, command } of figures)
    if (date < since.date) problem(FIGURES, `${id} was measured on ${date}, before ${since.version} of ${since.date}: run ${command} again`)
}

const written = new Intl.NumberFormat('en-US')
/** A figure as it stands in a sentence. */
export const printed = ({ value, unit }: Figure) =>
  [typeof value === 'number' ? written.format(value) : value, unit].filter(Boolean).join(unit === '%' ? '' : ' ')

/** The text with its figures; `problem` hears of those that there are not. */
export const withFigures = (text: string, figures: readonly Figure[], problem: (text: string) => void): string =>
  text.replace(/\{figure:([\w-]+)\}/g, (whole, id: string) => {
    const figure = figures.find((other) => other.id === id)
    if (!figure) problem(`quotes the figure ${id}, which ${FIGURES} does not have`)
    return figure ? printed(figure) : whole
  })
