/** The code as its reader sees it: where its patterns are, and what of it reads text. */

interface Pattern {
  line: number
  source: string
  flags: string
}

interface Code {
  patterns: Pattern[]
  /** The code without its comments, and without what stands in its strings and patterns; as long as it was. */
  bare: string
}

/** Words and signs behind which a slash begins a pattern; behind all others it divides. */
const BEFORE_PATTERN = /(?:^|[(,=:[!&|?{};+\-*%~^<>]|\b(?:return|typeof|case|in|of|void|else|await|yield))\s*$/

/** Where a string that begins at `at` ends, its quote included. */
function endOfString(text: string, at: number): number {
  const quote = text[at]
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === quote) return i + 1
  }
  return text.length
}

/** Where a pattern that begins at `at` ends, before its flags. */
function endOfPattern(text: string, at: number): number {
  let isClass = false
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '[') isClass = true
    else if (text[i] === ']') isClass = false
    else if (text[i] === '/' && !isClass) return i + 1
  }
  return text.length
}

/** Reads TypeScript as far as patterns, strings and comments need. */
export function codeOf(text: string): Code {
  const patterns: Pattern[] = []
  let bare = ''
  /** Of each template string that is open: how many braces are open in the place that is read. */
  const places: number[] = []
  let at = 0
  const blank = (end: number) => {
    bare += text.slice(at, end).replace(/[^\n]/g, ' ')
    at = end
  }
  const template = () => {
    for (let i = at; i < text.length; i++) {
      if (text[i] === '\\') i++
      else if (text[i] === '`') return blank(i + 1)
      else if (text[i] === '$' && text[i + 1] === '{') {
        places.push(0)
        return blank(i + 2)
      }
    }
    blank(text.length)
  }
  while (at < text.length) {
    const [sign, next] = [text[at]!, text[at + 1]]
    if (sign === '/' && next === '/') blank(text.indexOf('\n', at) < 0 ? text.length : text.indexOf('\n', at))
    else if (sign === '/' && next === '*') blank(text.indexOf('*/', at) + 2)
    else if (sign === "'" || sign === '"') blank(endOfString(text, at))
    else if (sign === '`') {
      blank(at + 1)
      template()
    } else if (sign === '}' && places.at(-1) === 0) {
      places.pop()
      blank(at + 1)
      template()
    } else if (sign === '/' && BEFORE_PATTERN.test(bare.slice(-200).trimEnd())) {
      const end = endOfPattern(text, at)
      const flags = /^[a-z]*/.exec(text.slice(end, end + 10))![0]
      patterns.push({ line: text.slice(0, at).split('\n').length, source: text.slice(at + 1, end - 1), flags })
      blank(end + flags.length)
      // A pattern is a value: what stands behind it divides.
      bare = `${bare.slice(0, -1)}"`
    } else {
      if (places.length) places[places.length - 1]! += sign === '{' ? 1 : sign === '}' ? -1 : 0
      bare += sign
      at++
    }
  }
  return { patterns, bare }
}

/** What takes a text apart, or looks for something in it. Patterns that stand in the code are asked by themselves. */
const READS =
  /\.(?:indexOf|lastIndexOf|split|matchAll|match|charCodeAt|codePointAt|search|replaceAll|replace|normalize)\(|\bnormal\(|\bnew RegExp\(/
/** The first line of a declaration at the top of a file. */
const DECLARED = /^(?:export )?(?:async )?(?:abstract )?(?:const|let|function\*?|class) (\w+)/

/** The declarations at the top of a file that read text, by name; `top` for what stands in none. */
export function readersOf({ bare }: Code): string[] {
  const found = new Set<string>()
  let name = 'top'
  for (const line of bare.split('\n')) {
    const declared = DECLARED.exec(line)?.[1]
    if (declared) name = declared
    else if (/^[^\s})\]/]/.test(line)) name = 'top'
    if (READS.test(line)) found.add(name)
  }
  return [...found]
}
