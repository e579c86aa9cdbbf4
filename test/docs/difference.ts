/**
 * Whether a page shows what was answered. Numbers, truth, null and texts have to be the same; only what is another with each run may
 * differ. What that is, the shape of both values decides and never the name of their field: a field that holds an id today and a word
 * tomorrow is noticed.
 */
import { version } from '../../package.json'

/** What stands in a page for more of the same. In a list or an object that is shown, this entry takes its place. */
const MORE = '…'
const CUT = '\u0000more'

/** What the server under test says of itself, and what pages say there: the address and the name of the example, and the release. */
const TOLD_AS: readonly (readonly [RegExp, string])[] = [
  [/http:\/\/127\.0\.0\.1:\d+(?=\/|$)/g, 'https://shop.example'],
  // Each page has a store of its own, and no two of them may have one name.
  [/\btest-[0-9a-f]{12}\b/g, 'atelier-nord'],
]
/** Pages may give the API an address of its own. */
const API_ORIGIN = /https:\/\/api\.shop\.example(?=\/|$)/g

/** Fields in which the tests have something else than a server, and what a server has. */
const FIELDS: Record<string, { inTests: string; real: string }> = {
  // The app of the tests is of no release.
  version: { inTests: 'test', real: version },
}

/**
 * Texts, or parts of texts, that are others with each run, and what stands for them: the same for a page and the answer when both have
 * the shape. Lengths belong to it where they are fixed, so that a key is no signature.
 */
const RANDOM: readonly (readonly [string, RegExp])[] = [
  ['id', /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g],
  ['key', /\bsk-[0-9a-f]{48}\b/g],
  ['key of the sandbox', /\bsk-s-[0-9a-f]{48}\b/g],
  ['start of a key', /\bsk-[0-9a-f]{5}\b/g],
  ['secret', /\bwhsec_[A-Za-z0-9+/]{43}=/g],
  ['signature', /\b[0-9a-f]{40}\b/g],
  ['bare id', /\b[0-9a-f]{32}\b/g],
  ['number of a parcel', /\b\d{20}\b/g],
  // A clock hardly ever reads a full quarter of an hour: such an instant was asked for, and is shown as it was asked for.
  ['instant', /\b\d{4}-\d\d-\d\dT\d\d:(?!(?:00|15|30|45):00\.000Z)\d\d:\d\d\.\d{3}Z/g],
  // One of 1,500 has no digit, and next to none has no small or no large letter.
  ['token', /(?<![\w-])(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{40,}(?![\w-])/g],
]

/** What is random begins like this before `…`, and only there: what may then stand in the answer. */
const BEGUN: readonly (readonly [RegExp, string])[] = [
  [/\bsk-[0-9a-f]{5,}$/, '‹key›'],
  [/\b[0-9a-f]{8}-[0-9a-f-]*$/, '‹id›'],
  [/\b(?=[0-9a-f]*\d)[0-9a-f]{4,}$/, '‹signature›'],
  [/\b(?=\w*[a-z])(?=\w*[A-Z])(?=\w*\d)\w{16,}$/, '‹token›'],
]

/** The text without what is random in it, unless the page itself has sent that: then it has to come back. */
const withoutRandom = (text: string, asked: string) =>
  RANDOM.reduce((rest, [what, shape]) => rest.replaceAll(shape, (part) => (asked.includes(part) ? part : `‹${what}›`)), text)

/** The value that a JSON text of a page shows; what is cut off keeps its place. */
export function shown(text: string): unknown {
  const within: string[] = []
  const whole = text.replace(/"(?:[^"\\]|\\.)*"|[[\]{}…]/g, (token) => {
    if (token === '[' || token === '{') within.push(token)
    if (token === ']' || token === '}') within.pop()
    if (token !== MORE) return token
    return within.at(-1) === '{' ? `${JSON.stringify(CUT)}: 0` : JSON.stringify(CUT)
  })
  return JSON.parse(whole)
}

/** Whether a text that is shown is the real one, which is shortened with `…` or not. */
function isSame(shows: string, real: string, asked: string): boolean {
  const answer = withoutRandom(
    TOLD_AS.reduce((rest, [own, example]) => rest.replaceAll(own, example), real),
    asked,
  )
  const pieces = shows.replaceAll(API_ORIGIN, 'https://shop.example').split(MORE)
  const wanted = pieces.map((piece, i) => {
    const [start, whole] = (i < pieces.length - 1 && BEGUN.find(([begun]) => begun.test(piece))) || [/$/, '']
    return RegExp.escape(withoutRandom(piece.replace(start, ''), asked)) + whole
  })
  return new RegExp(`^${wanted.join('[^]*')}$`).test(answer)
}

/** A day as programs print it: that on which they run, unless they name it themselves. */
const DAY = /\b\d{4}-\d\d-\d\d\b/g

/** Whether the lines that are shown stand one below the other in what programs print; `asked` is their text. */
export function isPrinted(shows: string, real: string, asked = ''): boolean {
  const linesOf = (text: string) =>
    text
      .replaceAll(DAY, (day) => (asked.includes(day) ? day : '‹day›'))
      .split('\n')
      .map((line) => line.trimEnd())
  const [lines, printed] = [linesOf(shows), linesOf(real)]
  return printed.some((_, at) => lines.every((line, i) => printed[at + i] !== undefined && isSame(line, printed[at + i]!, asked)))
}

/** What a program prints, however it is laid out: lists and objects stand on one line or on several. */
const laidOut = (text: string) => text.replaceAll(/\s/g, '').replaceAll(/,(?=[\]}])/g, '')

/** Whether what a comment behind `console.log` shows is printed. */
export function isNoted(comment: string, real: string): boolean {
  const pieces = comment.split(MORE).map((piece) => RegExp.escape(laidOut(piece)))
  return new RegExp(pieces.join('[^]*')).test(laidOut(real))
}

const told = (value: unknown) => {
  const text = JSON.stringify(value) ?? 'not there'
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}

/** Where what a page shows is not what was answered, a line each. `asked` are the requests of the page. */
export function differences(shows: unknown, real: unknown, asked = '', path = 'the answer'): string[] {
  const other = () => [`${path} is ${told(real)}, not ${told(shows)}`]
  if (typeof shows === 'string') return typeof real === 'string' && isSame(shows, real, asked) ? [] : other()
  if (typeof shows !== 'object' || shows === null) return shows === real ? [] : other()
  if (typeof real !== 'object' || real === null || Array.isArray(shows) !== Array.isArray(real)) return other()
  if (Array.isArray(shows)) return betweenLists(shows, real as unknown[], asked, path)
  const fields = real as Record<string, unknown>
  const isCut = CUT in shows
  const named = Object.entries(shows).filter(([name]) => name !== CUT)
  const left = isCut ? [] : Object.keys(fields).filter((name) => !(name in shows))
  return [
    ...named.flatMap(([name, value]) => {
      if (!(name in fields)) return [`${path} has no ${name}`]
      const field = FIELDS[name]
      return differences(value, field && field.inTests === fields[name] ? field.real : fields[name], asked, `${path}.${name}`)
    }),
    ...(left.length ? [`${path} has ${left.join(', ')} as well: what is left out is shown as …`] : []),
    ...(isCut && named.length === Object.keys(fields).length ? [`${path} is shown whole: … stands for nothing`] : []),
  ]
}

/** Between two lists, of which the shown one may leave out a part of the other: there its ends are compared. */
function betweenLists(shows: unknown[], real: unknown[], asked: string, path: string): string[] {
  const cut = shows.indexOf(CUT)
  const tail = cut < 0 ? 0 : shows.length - cut - 1
  const given = cut < 0 ? shows.length : shows.length - 1
  if (cut < 0 ? real.length !== given : real.length <= given)
    return [`${path} has ${real.length} entries, not ${given}${cut < 0 ? '' : ' and …'}`]
  return shows.flatMap((entry, i) => {
    if (entry === CUT) return []
    const at = cut < 0 || i < cut ? i : real.length - tail + i - cut - 1
    return differences(entry, real[at], asked, `${path}[${at}]`)
  })
}
