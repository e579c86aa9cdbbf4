/** Scripts that stand in pages: a Content-Security-Policy names each by its hash. */

/** Elements whose content is text up to their own end tag (HTML Standard, 13.2.5). */
const TEXT_ONLY = new Set(['script', 'style', 'textarea', 'title', 'noscript', 'iframe', 'noembed', 'noframes', 'xmp'])
/** All behind it is text. */
const LAST = 'plaintext'
const LONGEST_NAME = LAST.length
/** Of a media type nothing longer says that it is of data. */
const TYPE_MAX = 100
const [QUOTE, APOSTROPHE, SLASH, GREATER, EXCLAMATION, QUESTION, EQUALS] = [34, 39, 47, 62, 33, 63, 61]

const isSpace = (code: number) => code === 32 || (code >= 9 && code <= 13 && code !== 11)
const isLetter = (code: number) => (code >= 97 && code <= 122) || (code >= 65 && code <= 90)
/** A data block, by its type: no script, which needs no permission. */
const isData = (type: string) => /json|speculationrules|html|template/.test(type)

/**
 * The hashes of the scripts that stand in a page, each once: of `script` elements, not of what looks like one in an attribute, a comment or
 * a text. Read in one pass that never goes back, whatever the page is made of.
 */
export function inlineScripts(html: string): string[] {
  const hashes = new Set<string>()
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at)) {
    const code = html.charCodeAt(at + 1)
    const isEnd = code === SLASH
    if (!isLetter(isEnd ? html.charCodeAt(at + 2) : code)) {
      at = isEnd || code === EXCLAMATION || code === QUESTION ? behindDeclaration(html, at) : at + 1
      continue
    }
    const tag = readTag(html, at + (isEnd ? 2 : 1))
    at = tag.end
    if (tag.name === LAST) break
    if (isEnd || !TEXT_ONLY.has(tag.name)) continue
    const closed = endOfText(html, at, tag.name)
    if (closed < 0) break
    if (tag.name === 'script' && !tag.hasSource && !isData(tag.type)) hashes.add(hashOf(html.slice(at, closed)))
    at = closed
  }
  return [...hashes]
}

/** Lines end in one way to a browser. */
const hashOf = (script: string) =>
  `'sha256-${new Bun.CryptoHasher('sha256').update(script.replaceAll('\r\n', '\n').replaceAll('\r', '\n')).digest('base64')}'`

/** The place behind a comment, a doctype or what else begins with a sign that no tag has: `<!`, `<?` or `</`. */
function behindDeclaration(html: string, from: number): number {
  if (!html.startsWith('<!--', from)) {
    const end = html.indexOf('>', from)
    return end < 0 ? html.length : end + 1
  }
  // `<!-->` and `<!--->` are whole: the end may share its hyphens with the beginning.
  for (let at = html.indexOf('--', from + 2); at >= 0; at = html.indexOf('--', at + 1))
    for (const end of ['-->', '--!>']) if (html.startsWith(end, at)) return at + end.length
  return html.length
}

/** Where the end tag begins of an element whose content is text; -1: nowhere. */
function endOfText(html: string, from: number, name: string): number {
  for (let at = html.indexOf('</', from); at >= 0; at = html.indexOf('</', at + 2)) {
    const end = at + 2 + name.length
    const code = html.charCodeAt(end)
    if (html.slice(at + 2, end).toLowerCase() === name && (isSpace(code) || code === SLASH || code === GREATER)) return at
  }
  return -1
}

interface Tag {
  name: string
  hasSource: boolean
  /** Of a script: its media type, in lower case. */
  type: string
  /** The place behind it. */
  end: number
}

/** The place behind a name that begins at `from`: an equals sign ends one of an attribute that does not begin with it. */
function behindName(html: string, from: number, isAttribute: boolean): number {
  for (let at = from; at < html.length; at++) {
    const code = html.charCodeAt(at)
    if (code === SLASH || code === GREATER || isSpace(code) || (isAttribute && code === EQUALS && at > from)) return at
  }
  return html.length
}

const nameIn = (html: string, from: number, to: number) => (to - from > LONGEST_NAME ? '' : html.slice(from, to).toLowerCase())

/** A tag whose name begins at `from`, with its attributes. */
function readTag(html: string, from: number): Tag {
  let at = behindName(html, from, false)
  const tag: Tag = { name: nameIn(html, from, at), hasSource: false, type: '', end: html.length }
  const isScript = tag.name === 'script'
  while (at < html.length) {
    const code = html.charCodeAt(at)
    if (code === GREATER) return { ...tag, end: at + 1 }
    if (code === SLASH || isSpace(code)) {
      at++
      continue
    }
    const start = at
    at = behindName(html, start, true)
    const attribute = isScript ? nameIn(html, start, at) : ''
    while (isSpace(html.charCodeAt(at))) at++
    if (attribute === 'src') tag.hasSource = true
    if (html.charCodeAt(at) !== EQUALS) continue
    const value = readValue(html, at + 1)
    at = value.end
    if (attribute === 'type' && !tag.type) tag.type = html.slice(value.from, Math.min(value.to, value.from + TYPE_MAX)).toLowerCase()
  }
  return tag
}

/** Where the value of an attribute stands, behind its equals sign. */
function readValue(html: string, from: number): { from: number; to: number; end: number } {
  let at = from
  while (isSpace(html.charCodeAt(at))) at++
  const quote = html.charCodeAt(at)
  if (quote === QUOTE || quote === APOSTROPHE) {
    const closed = html.indexOf(html[at]!, at + 1)
    return closed < 0 ? { from: at + 1, to: html.length, end: html.length } : { from: at + 1, to: closed, end: closed + 1 }
  }
  const start = at
  for (let code = quote; at < html.length && code !== GREATER && !isSpace(code);) code = html.charCodeAt(++at)
  return { from: start, to: at, end: at }
}
