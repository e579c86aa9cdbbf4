/** `robots.txt` (RFC 9309): which of its rules holds for a crawler and a path. Its time grows with the file, whatever its patterns are. */

/** What is read of it (RFC 9309, 2.5), in bytes. */
export const ROBOTS_MAX_BYTES = 512 * 1_024
/** Of a line that is told, in characters. */
const LINE_MAX = 200

interface Rule {
  allow: boolean
  /** In the spelling in which paths are compared, and in its parts between the stars. */
  pattern: string
  parts: readonly string[]
  isWhole: boolean
  /** As it stands in the file. */
  line: string
}

interface Group {
  /** In lower case. */
  agents: string[]
  rules: Rule[]
  signals: string[]
}

interface Verdict {
  allowed: boolean
  /** The line that decides; null where none does. */
  rule: string | null
}

export interface Robots {
  /** What a crawler may do at a path, its query included. */
  verdict(userAgent: string, path: string): Verdict
  /** Addresses of sitemaps, as they stand there. */
  sitemaps: string[]
  /** `Content-Signal` of the group for all (contentsignals.org), or of whoever has one; null without it. */
  contentSignal: string | null
}

const escaped = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`

/**
 * One spelling (RFC 9309, 2.2.2): octets beyond ASCII and what is reserved in a query escaped, escapes of what needs none undone, the
 * others in capitals.
 */
function spelled(path: string): string {
  const plain = path
    .replace(/[^\x21-\x7e]/gu, (character) => encodeURIComponent(character.toWellFormed()))
    .replace(/%([0-9a-f]{2})/gi, (escape, hex: string) => {
      const character = String.fromCharCode(Number.parseInt(hex, 16))
      return /[A-Za-z0-9\-._~]/.test(character) ? character : escape.toUpperCase()
    })
  const at = plain.indexOf('?') + 1
  return at === 0 ? plain : plain.slice(0, at) + plain.slice(at).replace(/[:/?#[\]@!'(),;]/g, escaped)
}

/** Whether a path begins as a pattern says: `*` is anything, `$` at its end the end of the path. Each part is looked for once. */
function matches({ parts: [start, ...rest], isWhole }: Rule, path: string): boolean {
  if (!path.startsWith(start!)) return false
  let at = start!.length
  if (!rest.length) return !isWhole || at === path.length
  const last = rest.at(-1)!
  for (const part of isWhole ? rest.slice(0, -1) : rest) {
    const found = path.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return !isWhole || (path.endsWith(last) && path.length - last.length >= at)
}

function ruleOf(allow: boolean, value: string): Rule {
  const pattern = spelled(value)
  const isWhole = pattern.endsWith('$')
  const line = `${allow ? 'Allow' : 'Disallow'}: ${value}`
  // Kept for people to read.
  const shown = line.length > LINE_MAX ? `${line.slice(0, LINE_MAX).toWellFormed()}…` : line
  return { allow, pattern, parts: (isWhole ? pattern.slice(0, -1) : pattern).split('*'), isWhole, line: shown }
}

/** The name of a crawler as a line gives it: `GPTBot/1.1` is GPTBot. */
const productOf = (value: string) => (/^[^\s/]+/.exec(value)?.[0] ?? '').toLowerCase()

function groupsOf(text: string): { groups: Group[]; sitemaps: string[] } {
  const [groups, sitemaps]: [Group[], string[]] = [[], []]
  let group: Group | undefined
  let isNaming = false
  for (const raw of text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)) {
    const line = raw.split('#')[0]!.trim()
    const at = line.indexOf(':')
    if (at < 0) continue
    const [key, value] = [line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim()]
    if (key === 'user-agent') {
      if (!isNaming || !group) groups.push((group = { agents: [], rules: [], signals: [] }))
      group.agents.push(productOf(value))
      isNaming = true
    } else if (key === 'allow' || key === 'disallow') {
      isNaming = false
      if (value) group?.rules.push(ruleOf(key === 'allow', value))
    } else if (key === 'sitemap' && value) sitemaps.push(value)
    else if (key === 'content-signal') group?.signals.push(value)
  }
  return { groups, sitemaps }
}

/** The longer one counts, and of two the one that allows. */
const isStronger = (rule: Rule, other: Rule | null) =>
  other === null ||
  rule.pattern.length > other.pattern.length ||
  (rule.pattern.length === other.pattern.length && rule.allow && !other.allow)

/** Reads a `robots.txt`. */
export function parseRobots(text: string): Robots {
  const { groups, sitemaps } = groupsOf(text)
  const byAgent = new Map<string, Group[]>()
  for (const group of groups)
    for (const agent of new Set(group.agents)) {
      const own = byAgent.get(agent)
      if (own) own.push(group)
      else byAgent.set(agent, [group])
    }
  /** All groups of one crawler are one; without any, those for all. */
  const groupsFor = (userAgent: string) => byAgent.get(userAgent.toLowerCase()) ?? byAgent.get('*') ?? []
  /** The path that was asked for last, as patterns are compared with it, and the rule of each group for it: each is looked at once. */
  let [asked, target] = ['', '']
  let known = new Map<Group, Rule | null>()
  const ruleIn = (group: Group): Rule | null => {
    let decisive = known.get(group)
    if (decisive === undefined) {
      decisive = group.rules.reduce<Rule | null>((best, rule) => (isStronger(rule, best) && matches(rule, target) ? rule : best), null)
      known.set(group, decisive)
    }
    return decisive
  }
  return {
    verdict(userAgent, path) {
      if (path === '/robots.txt') return { allowed: true, rule: null }
      if (path !== asked || !known.size) {
        // In a path they are themselves, in a pattern they stand for something.
        ;[asked, target, known] = [path, spelled(path).replace(/[*$]/g, escaped), new Map()]
      }
      const rules = groupsFor(userAgent).flatMap((group) => (group.rules.length ? (ruleIn(group) ?? []) : []))
      const decisive = rules.reduce<Rule | null>((best, rule) => (isStronger(rule, best) ? rule : best), null)
      return { allowed: decisive?.allow ?? true, rule: decisive?.line ?? null }
    },
    sitemaps,
    contentSignal: [...groups.filter(({ agents }) => agents.includes('*')), ...groups].flatMap(({ signals }) => signals)[0] ?? null,
  }
}
