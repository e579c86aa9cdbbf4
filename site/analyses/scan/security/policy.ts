/** Content-Security-Policy as Mozilla's Observatory reads it: several policies become the one that they allow together. */

/** Directives that count in a header alone (HTML, `meta http-equiv`). */
const HEADER_ONLY = ['frame-ancestors', 'report-uri', 'sandbox']
/** May stand in a policy twice. */
const REPEATABLE = ['report-uri', 'report-to']
/** Sources of a directive, and policies, beyond which nothing is read: the longest real ones have a few hundred. */
const SOURCES_MAX = 500
const POLICIES_MAX = 10
const DIRECTIVES_MAX = 60
const PAIRS_MAX = 10_000
const POLICY_MAX = 100_000
/** Shorter than `img-src` with a source is no policy. */
const POLICY_LEAST = 6

/** Directives with their sources, in lower case. */
export type Policy = ReadonlyMap<string, ReadonlySet<string>>

interface ParsedPolicy {
  directives: Policy
  /** Directives for reports that stand in one policy twice. */
  isRepeated: boolean
}

interface Source {
  text: string
  /** Its parts between slashes, unescaped. */
  parts: readonly string[]
}

/** Throws `URIError` for a percent sign that escapes nothing. */
const sourceOf = (text: string): Source => ({ text, parts: text.split('/').map((part) => decodeURIComponent(part)) })

/** Whether what one source allows includes another: paths by their parts. */
function includes(wide: Source, narrow: Source): boolean {
  if (wide.text === '') return true
  const isFolder = wide.text.endsWith('/')
  if (wide.parts.length > narrow.parts.length || (!isFolder && wide.parts.length !== narrow.parts.length)) return false
  const last = isFolder ? wide.parts.length - 1 : wide.parts.length
  for (let at = 0; at < last; at++) if (wide.parts[at] !== narrow.parts[at]) return false
  return true
}

/** One policy; null for one that is none, or repeats a directive. */
function parseOne(text: string): { directives: Map<string, string[]>; isRepeated: boolean } | null {
  const plain = text
    .slice(0, POLICY_MAX)
    .replace(/[\r\n]/g, '')
    .trim()
  if (plain.length < POLICY_LEAST) return null
  const directives = new Map<string, string[]>()
  let isRepeated = false
  for (const entry of plain.split(';')) {
    const [name = '', ...sources] = entry.trim().toLowerCase().split(/\s+/)
    if (!name || directives.size >= DIRECTIVES_MAX) continue
    if (directives.has(name)) {
      if (!REPEATABLE.includes(name)) return null
      isRepeated = true
      continue
    }
    directives.set(name, sources.length ? [...new Set(sources)].slice(0, SOURCES_MAX) : name.endsWith('-src') ? ["'none'"] : [])
  }
  return { directives, isRepeated }
}

/** Sources that say nothing beyond another one of the same list: they begin with it. */
function withoutLonger(sources: readonly string[]): string[] {
  const sorted = [...new Set(sources)].toSorted()
  return sorted.filter((source, i) => i === 0 || !source.startsWith(sorted[i - 1]!))
}

/** Sources that two lists allow: of each pair in which one includes the other, the narrow one. */
function inBoth(some: readonly string[], others: readonly string[]): string[] {
  // Lists as long as nobody's are compared as they stand.
  if (some.length * others.length > PAIRS_MAX) {
    const known = new Set(some)
    return others.filter((source) => known.has(source))
  }
  const [ours, theirs] = [some.map(sourceOf), others.map(sourceOf)]
  const kept = new Set<string>()
  for (const a of ours)
    for (const b of theirs)
      if (includes(a, b)) kept.add(b.text)
      else if (includes(b, a)) kept.add(a.text)
  return [...kept]
}

/** All policies together; null where one of them is invalid. No policy has no directive. */
export function parsePolicies(texts: readonly string[], where: 'header' | 'meta' | 'both'): ParsedPolicy | null {
  try {
    return combined(texts, where)
  } catch (error) {
    if (error instanceof URIError) return null
    throw error
  }
}

function combined(texts: readonly string[], where: 'header' | 'meta' | 'both'): ParsedPolicy | null {
  const parsed = texts.slice(0, POLICIES_MAX).map(parseOne)
  if (parsed.some((policy) => policy === null)) return null
  const directives = new Map<string, Set<string>>()
  for (const [at, { directives: own }] of (parsed as NonNullable<(typeof parsed)[number]>[]).entries())
    for (const [name, sources] of own) {
      const known = directives.get(name)
      // What the first policy does not name and a later one does is forbidden by both together.
      const kept = known ? inBoth([...known], sources) : at === 0 ? withoutLonger(sources) : []
      directives.set(name, new Set(kept.length ? kept : ["'none'"]))
    }
  if (where === 'meta') for (const name of HEADER_ONLY) directives.delete(name)
  return { directives, isRepeated: parsed.some((policy) => policy!.isRepeated) }
}
