/** The curl commands of pages: read as a shell reads one, with the request that it makes, and written for a request. */
import { CODE_COLUMNS, JSON_NOTATION, wrapped } from './wrapped.ts'

/** A piece of a word: text, or the name of a variable. */
export type Piece = { text: string } | { variable: string }
type Word = Piece[]

export interface Curl {
  method: string
  url: Word
  /** Names in lower case. */
  headers: [name: string, value: Word][]
  /** What `-d` sends; null without. */
  body: Word | null
}

const SPACE = /(?:\s|\\\n)+/y
const VARIABLE = /\$\{?([A-Za-z_]\w*)\}?/y
/** What stands for itself: all but what makes more of a line than one plain command, */
const PLAIN = /[^\s'"\\$|;&<>()`#*?!{}[\]~]+/y
/** and in quotes all but what a shell reads there. */
const QUOTED = /[^"\\$`]+/y
const ESCAPED = /\\(["\\$`])/y

/** The words of one command; null where it is more than that. */
function wordsOf(text: string): Word[] | null {
  const words: Word[] = []
  let word: Word | null = null
  let at = 0
  const put = (piece: Piece) => {
    word ??= []
    const last = word.at(-1)
    if ('text' in piece && last && 'text' in last) last.text += piece.text
    else word.push(piece)
  }
  /** What stands here, which is gone past. */
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found) at = pattern.lastIndex
    return found
  }
  const takeVariable = () => {
    const found = take(VARIABLE)
    if (found) put({ variable: found[1]! })
    return found !== null
  }
  const takeText = (pattern: RegExp, group = 0) => {
    const found = take(pattern)
    if (found) put({ text: found[group]! })
    return found !== null
  }
  while (at < text.length) {
    const space = take(SPACE)
    if (space) {
      if (word) words.push(word)
      word = null
      // A line that ends without a backslash ends the command.
      if (space[0].replaceAll('\\\n', '').includes('\n') && at < text.length) return null
    } else if (text[at] === "'") {
      const end = text.indexOf("'", at + 1)
      if (end < 0) return null
      put({ text: text.slice(at + 1, end) })
      at = end + 1
    } else if (text[at] === '"') {
      at++
      put({ text: '' })
      while (text[at] !== '"') {
        if (at >= text.length || text[at] === '`' || text.startsWith('$(', at)) return null
        if (!takeVariable() && !takeText(ESCAPED, 1) && !takeText(QUOTED)) put({ text: text[at++]! })
      }
      at++
    } else if (!takeVariable() && !takeText(PLAIN)) return null
  }
  if (word) words.push(word)
  return words
}

const plain = (word: Word | undefined): string =>
  (word ?? []).map((piece) => ('text' in piece ? piece.text : `$${piece.variable}`)).join('')

/** The request that a command of one plain `curl` makes; null where it is more, or has options that say nothing of a request. */
export function curlOf(text: string): Curl | null {
  const [command, ...words] = wordsOf(text.trim()) ?? []
  if (plain(command) !== 'curl') return null
  const curl: Curl = { method: '', url: [], headers: [], body: null }
  for (let i = 0; i < words.length; i++) {
    const option = plain(words[i])
    if (/^-[sSgi]+$/.test(option)) continue
    if (option === '-X') curl.method = plain(words[++i])
    else if (option === '-H') {
      const word = words[++i] ?? []
      const [first, ...rest] = word
      const [, name, value] = /^([\w-]+):\s*(.*)$/s.exec(first && 'text' in first ? first.text : '') ?? []
      if (!name) return null
      curl.headers.push([name.toLowerCase(), value ? [{ text: value }, ...rest] : rest])
    } else if (option === '-d') curl.body = words[++i] ?? []
    else if (option.startsWith('-') || curl.url.length) return null
    else curl.url = words[i]!
  }
  if (!curl.url.length) return null
  curl.method ||= curl.body ? 'POST' : 'GET'
  return curl
}

/** A word as it stands in a command, with its variables by their names. */
export const written = plain

interface Asked {
  method: string
  /** Behind `/api/v1`, with its query. */
  path: string
  /** The variable that has the key; null where none is needed. */
  key: string | null
  body?: unknown
}

const inQuotes = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** The command that makes a request of the store API, as somebody would paste it who has set its address and the key. */
export function commandFor({ method, path, key, body }: Asked): string {
  const begin = method === (body === undefined ? 'GET' : 'POST') ? 'curl' : `curl -X ${method}`
  const address = `"$STORE_URL/api/v1${path}"`
  // A backslash follows.
  const isShort = begin.length + address.length + 3 <= CODE_COLUMNS
  const parts = [
    ...(isShort ? [`${begin} ${address}`] : [begin, address]),
    ...(key === null ? [] : [`-H "Authorization: Bearer $${key}"`]),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${inQuotes(wrapped(body, JSON_NOTATION, 2, 6))}`]),
  ]
  return parts.join(' \\\n  ')
}
