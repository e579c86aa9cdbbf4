/** The unknown parts of a request: named in `Ignored-Fields`, or refused where the client asks for it (document 8, Strictness). */
import { isDeepStrictEqual } from 'node:util'
import { likeness } from '../../values/likeness.ts'
import { invalid, type Detail } from '../../values/refusal.ts'

/** How many names the header has at most. */
const NAMED_MAX = 20
const NAME_MAX_LENGTH = 100
/** Clients take a few kilobytes of headers. */
const HEADER_MAX_LENGTH = 1_000

/** The fields above one, from the inside out; null at the top. */
export interface Place {
  above: Place | null
  name: string
}

interface Unknown {
  above: Place | null
  name: string
  /** The names that the client could have meant. */
  known: readonly string[]
  isParameter: boolean
}

/** A field that answers show and no request sets. */
interface Shown {
  above: Place | null
  name: string
  value: unknown
}

const pathOf = (place: Place | null): string[] => (place ? [...pathOf(place.above), place.name] : [])

const at = (value: any, path: readonly string[]): unknown => path.reduce((inner, name) => inner?.[name], value)

/** The known name that is as like a given one as a slip of the keyboard, or contains it; undefined when there is none. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const word = name.toLowerCase()
  const ranked = known
    .map((other) => ({ other, like: likeness(word, other.toLowerCase()) || (other.toLowerCase().includes(word) ? 0.5 : 0) }))
    .filter(({ like }) => like > 0)
    .toSorted((a, b) => b.like - a.like)
  return ranked[0]?.other
}

/** The complaint about a name that is unknown among some that are known. */
export function unknownOf(name: string, known: readonly string[], kind: 'field' | 'parameter' = 'field') {
  const meant = nearest(name, known)
  const shown = name.slice(0, NAME_MAX_LENGTH)
  return { message: `unknown ${kind} ${shown}${meant ? `: did you mean ${meant}?` : ''}`, keys: [shown] }
}

/** A name as a header can carry it, in a list. */
const plain = (name: string) =>
  name.slice(0, NAME_MAX_LENGTH).replace(/[^\x21-\x2b\x2d-\x7e]/g, (c) => (c.isWellFormed() ? encodeURIComponent(c) : '%EF%BF%BD'))

/** Gathers the unknown names of one request. */
export class Notes {
  readonly #unknown: Unknown[] = []
  readonly #shown: Shown[] = []
  /** Fields that were sent under two names with different values. */
  readonly problems: Detail[] = []
  isLate = false

  /** `strict`: what is unknown is refused. */
  constructor(readonly strict = false) {}

  field(above: Place | null, name: string, known: readonly string[]) {
    if (this.#unknown.length < NAMED_MAX) this.#unknown.push({ above, name, known, isParameter: false })
  }

  shown(above: Place | null, name: string, value: unknown) {
    this.#shown.push({ above, name, value })
  }

  /** Has the answer compared, instead of what was there before. */
  compareLater() {
    this.isLate = true
  }

  /** Whether something was sent that only answers have. */
  get hasShown(): boolean {
    return this.#shown.length > 0
  }

  /** Notes what was sent of the fields that only answers have, unless `resource` has the very same there: it was read and comes back. */
  compare(resource: unknown) {
    const wire = JSON.parse(JSON.stringify(resource ?? null))
    for (const { above, name, value } of this.#shown)
      if (!isDeepStrictEqual(at(wire, [...pathOf(above), name]), value)) this.field(above, name, [])
  }

  parameter(name: string, known: readonly string[]) {
    if (this.#unknown.length < NAMED_MAX && !this.#unknown.some((other) => other.isParameter && other.name === name))
      this.#unknown.push({ above: null, name, known, isParameter: true })
  }

  differs(above: Place | null, name: string, also: string) {
    this.problems.push({ code: 'custom', message: `differs from ${name}, which is the same field`, path: [...pathOf(above), also] })
  }

  /** `Ignored-Fields`: body paths with dots, query parameters with a question mark; null when there is nothing to say. */
  get ignored(): string | null {
    const names = this.#unknown.map(({ above, name, isParameter }) =>
      isParameter ? `?${plain(name)}` : [...pathOf(above), name].map(plain).join('.'),
    )
    if (!names.length) return null
    // What is left out of a list that is too long is said by its end.
    let length = 0
    const named = names.filter((name) => (length += name.length + 2) <= HEADER_MAX_LENGTH)
    return [...named, ...(named.length < names.length ? ['...'] : [])].join(', ')
  }

  /** Refuses with 400 what is unknown, with the nearest known name of each. */
  refuse() {
    if (!this.strict || !this.#unknown.length) return
    throw invalid(
      this.#unknown.map(({ above, name, known, isParameter }) => ({
        code: 'unrecognized_keys',
        path: pathOf(above),
        ...unknownOf(name, known, isParameter ? 'parameter' : 'field'),
      })),
    )
  }
}

/** Whether a `Prefer` header (RFC 7240) asks that unknown fields are refused. */
export const isStrict = (prefer: string | null): boolean =>
  prefer !== null && prefer.split(',').some((preference) => /^\s*handling\s*=\s*"?strict"?\s*(;|$)/i.test(preference))
