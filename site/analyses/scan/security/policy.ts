/** Content-Security-Policy as Mozilla's Observatory reads it: several policies become the one that they allow together. */

/** Directives that count in a header alone (HTML, `meta http-equiv`). */
const HEADER_ONLY = ['frame-ancestors', 'report-uri', 'sandbox']
/** May stand in a policy twice. */
const REPEATABLE = ['report-uri', 'report-to']
/** Shorter than `img-src` with a source is no policy. */
const POLICY_LEAST = 6

/** Directives with their sources, in lower case. */
export type Policy = ReadonlyMap<string, ReadonlySet<string>>

interface ParsedPolicy {
  directives: Policy
  /** Directives for reports that stand in one policy twice. */
  isRepeated: boolean
}

/** Whether what one source allows includes another: paths by their parts. Throws `URIError` for a percent sign that escapes nothing. */
function includes(wide: string, narrow: string): boolean {
  if (wide === '') return true
  const [a, b] = [wide.split('/'), narrow.split('/')]
  const isFolder = wide.endsWith('/')
  if (a.length > b.length || (!isFolder && a.length !== b.length)) return false
  const parts = isFolder ? a.slice(0, -1) : a
  return parts.every((part, i) => decodeURIComponent(part) === decodeURIComponent(b[i]!))
}

/** One policy; null for one that is none, or repeats a directive. */
function parseOne(text: string): { directives: Map<string, string[]>; isRepeated: boolean } | null {
  const plain = text.replace(/[\r\n]/g, '').trim()
  if (plain.length < POLICY_LEAST) return null
  const directives = new Map<string, string[]>()
  let isRepeated = false
  for (const entry of plain.split(';')) {
    const [name = '', ...sources] = entry.trim().toLowerCase().split(/\s+/)
    if (!name) continue
    if (directives.has(name)) {
      if (!REPEATABLE.includes(name)) return null
      isRepeated = true
      continue
    }
    directives.set(name, sources.length ? sources : name.endsWith('-src') ? ["'none'"] : [])
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
  return some.flatMap((a) => others.flatMap((b) => (includes(a, b) ? [b] : includes(b, a) ? [a] : [])))
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
  const parsed = texts.map(parseOne)
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
