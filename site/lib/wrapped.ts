/** Values as code, on one line where they fit, else an entry a line. */

/** The columns of code in pages. */
export const CODE_COLUMNS = 76

interface Notation {
  key(name: string): string
  text(value: string): string
  /** Behind the last entry of several lines. */
  last: '' | ','
}

export const JSON_NOTATION: Notation = { key: (name) => JSON.stringify(name), text: (value) => JSON.stringify(value), last: '' }

/** A value in a notation; its first line begins behind `behind` columns, the others are indented by `indent`. */
export function wrapped(value: unknown, notation: Notation, indent = 0, behind = indent): string {
  if (typeof value === 'string') return notation.text(value)
  if (typeof value !== 'object' || value === null) return String(value)
  const [opened, closed] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const entriesOf = (deep: boolean) =>
    Array.isArray(value)
      ? value.map((entry) => (deep ? wrapped(entry, notation, indent + 2) : wrapped(entry, notation, 0, -Infinity)))
      : Object.entries(value).map(([name, entry]) => {
          const key = notation.key(name)
          const text = deep ? wrapped(entry, notation, indent + 2, indent + key.length + 4) : wrapped(entry, notation, 0, -Infinity)
          // A name that is its own value is written once, where the notation has that.
          return notation.last && key === text ? key : `${key}: ${text}`
        })
  const flat = entriesOf(false)
  if (!flat.length) return opened + closed
  const space = Array.isArray(value) ? '' : ' '
  const line = `${opened}${space}${flat.join(', ')}${space}${closed}`
  // A comma, a quote or a bracket may follow.
  if (behind + line.length + 3 <= CODE_COLUMNS) return line
  const start = ' '.repeat(indent + 2)
  return `${opened}\n${entriesOf(true)
    .map((entry, i, all) => `${start}${entry}${i < all.length - 1 ? ',' : notation.last}\n`)
    .join('')}${' '.repeat(indent)}${closed}`
}
