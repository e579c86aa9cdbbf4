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

const NAME = /^\$\{?([A-Za-z_]\w*)\}?/
/** What stands for itself between double quotes. */
const QUOTED = /^[^"\\$`]+/
/** What stands for itself without quotes; anything else makes more of a line than one plain command. */
const BARE = /^[^\s'"\\$|;&<>()`#*?!{}[\]~]+/

/** The words of one command; null where it is more than that. */
function wordsOf(text: string): Word[] | null {
  const words: Word[] = []
  let word: Word | null = null
  const put = (piece: Piece) => {
    word ??= []
    const last = word.at(-1)
    if ('text' in piece && last && 'text' in last) last.text += piece.text
    else word.push(piece)
  }
  for (let i = 0; i < text.length;) {
    const rest = text.slice(i)
    const [space] = /^(\s|\\\n)+/.exec(rest) ?? []
    if (space) {
      if (word) words.push(word)
      word = null
      // A line that ends without a backslash ends the command.
      if (space.replaceAll('\\\n', '').includes('\n') && rest.length > space.length) return null
      i += space.length
      continue
    }
    if (rest[0] === "'") {
      const end = rest.indexOf("'", 1)
      if (end < 0) return null
      put({ text: rest.slice(1, end) })
      i += end + 1
    } else if (rest[0] === '"') {
      let at = 1
      put({ text: '' })
      while (rest[at] !== '"') {
        if (at >= rest.length || rest.startsWith('$(', at) || rest[at] === '`') return null
        const left = rest.slice(at)
        const [variable, name] = NAME.exec(left) ?? []
        const [run] = QUOTED.exec(left) ?? []
        if (variable) put({ variable: name! })
        else if (run) put({ text: run })
        else if (rest[at] === '\\' && /["\\$`]/.test(rest[at + 1]!)) put({ text: rest[++at]! })
        else put({ text: rest[at]! })
        at += (variable ?? run)?.length ?? 1
      }
      i += at + 1
    } else {
      const [variable, name] = NAME.exec(rest) ?? []
      const [run] = BARE.exec(rest) ?? []
      if (variable) put({ variable: name! })
      else if (run) put({ text: run })
      else return null
      i += (variable ?? run)!.length
    }
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
