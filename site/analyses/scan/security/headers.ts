/** The checks that read one header each. Their rules are those of Mozilla's HTTP Observatory, so that both come to the same score. */
import type { OutcomeOf } from './outcomes.ts'
import { parsePolicies, type Policy } from './policy.ts'
import { equivalents, valueOf, type Found, type Seen } from './seen.ts'

const CSP = 'content-security-policy'
/** Sources that allow everybody. */
const BROAD = ['ftp:', 'http:', 'https:', '*', 'http://*', 'http://*.*', 'https://*', 'https://*.*']
/** And what anybody may write into a page. */
const UNSAFE = [...BROAD, "'unsafe-inline'", 'data:']
const PASSIVE = ['img-src', 'media-src']
const isInsecure = (source: string) => source.startsWith('http:') || source.startsWith('ftp:')
const isNonceOrHash = (source: string) => /^'(nonce-|sha(256|384|512)-)/.test(source)

/** The sources of the first of these directives that there is; anything where there is none. */
function sourcesOf(policy: Policy, ...names: string[]): string[] {
  const name = names.find((candidate) => policy.has(candidate))
  return name ? [...policy.get(name)!] : ['*']
}

/** Inline code that a nonce or hash lets in needs no 'unsafe-inline'; old browsers do. */
const withNonces = (sources: string[]) => (sources.some(isNonceOrHash) ? sources.filter((source) => source !== "'unsafe-inline'") : sources)

/** The policy as browsers heed it that know 'strict-dynamic': hosts by scheme and 'self' say nothing there. Null without a nonce or hash. */
function strictly(policy: Policy): Policy | null {
  const name = policy.has('script-src') ? 'script-src' : 'default-src'
  const sources = [...(policy.get(name) ?? [])]
  if (!sources.includes("'strict-dynamic'")) return policy
  if (!sources.some(isNonceOrHash)) return null
  const kept = sources.filter(
    (source) => source !== "'self'" && source !== "'unsafe-inline'" && !BROAD.some((broad) => source.startsWith(broad)),
  )
  return new Map([...policy, [name, new Set(kept)]])
}

type CspOutcome = OutcomeOf<typeof CSP>

/** What the policy of a page is worth. Also tells it as it was read, for who looks for `frame-ancestors`. */
export function contentSecurityPolicy(seen: Seen): Found<CspOutcome> & { policy: Policy | null } {
  const known = judged.get(seen) ?? judge(seen)
  judged.set(seen, known)
  return known
}

/** Two checks ask for it. */
const judged = new WeakMap<Seen, ReturnType<typeof judge>>()

function judge(seen: Seen): Found<CspOutcome> & { policy: Policy | null } {
  const sent = valueOf(seen, CSP)
  const [header, meta] = [sent === null ? [] : [sent], equivalents(seen.metas, CSP)]
  const value = [...header, ...meta].join(', ') || null
  const both = parsePolicies([...header, ...meta], 'both')
  if (!both) return { outcome: 'invalid', value, policy: null }
  const counted = (parsePolicies(header, 'header')?.directives.size ?? 0) + (parsePolicies(meta, 'meta')?.directives.size ?? 0)
  if (counted === 0) {
    const reporting = valueOf(seen, 'content-security-policy-report-only')
    return { outcome: reporting ? 'report-only' : 'absent', value: reporting, policy: null }
  }
  const outcome = worthOf(both.directives, seen.url.protocol === 'https:')
  const isSafe = ['none-by-default', 'safe', 'unsafe-styles', 'insecure-passive'].includes(outcome)
  return { outcome: isSafe && both.isRepeated ? 'repeated-reports' : outcome, value, policy: both.directives }
}

function worthOf(policy: Policy, isHttps: boolean): CspOutcome {
  const heeded = strictly(policy)
  if (!heeded) return 'invalid'
  const scripts = withNonces(sourcesOf(heeded, 'script-src', 'default-src'))
  const styles = withNonces(sourcesOf(heeded, 'style-src', 'default-src'))
  const objects = sourcesOf(heeded, 'object-src', 'default-src')
  const isOpen = (sources: string[]) => sources.some((source) => UNSAFE.includes(source))
  if (isOpen(scripts) || objects.some((source) => BROAD.includes(source))) return 'unsafe-inline'
  const active = [...heeded].filter(([name]) => !PASSIVE.includes(name) && name !== 'script-src').flatMap(([, sources]) => [...sources])
  if (isHttps && [...active, ...scripts].some(isInsecure)) return 'insecure-active'
  if ([...scripts, ...styles].includes("'unsafe-eval'")) return 'unsafe-eval'
  const passive = PASSIVE.flatMap((name) => (policy.has(name) || policy.has('default-src') ? sourcesOf(policy, name, 'default-src') : []))
  if (isHttps && passive.some(isInsecure)) return 'insecure-passive'
  if (isOpen(styles)) return 'unsafe-styles'
  const byDefault = policy.get('default-src')
  return byDefault?.size === 1 && byDefault.has("'none'") ? 'none-by-default' : 'safe'
}

/** Six months of 30 days: what many sites send for half a year. */
const SIX_MONTHS_SECONDS = 15_552_000

export function strictTransportSecurity(seen: Seen): Found<OutcomeOf<'strict-transport-security'>> {
  const value = valueOf(seen, 'strict-transport-security')
  if (seen.url.protocol !== 'https:') return { outcome: 'no-https', value }
  if (seen.isPreloaded(seen.url.hostname)) return { outcome: 'preloaded', value }
  if (value === null) return { outcome: 'absent', value }
  const ages = value
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith('max-age='))
  const seconds = Number.parseInt(ages.at(-1)?.slice('max-age='.length) ?? '', 10)
  if (value.includes(',') || !ages.length) return { outcome: 'invalid', value }
  return { outcome: seconds < SIX_MONTHS_SECONDS ? 'short' : 'long', value }
}

export function frameOptions(seen: Seen): Found<OutcomeOf<'x-frame-options'>> {
  const value = valueOf(seen, 'x-frame-options')
  const { policy } = contentSecurityPolicy(seen)
  const ancestors = policy?.get('frame-ancestors')
  if (ancestors) return { outcome: 'policy', value: `frame-ancestors ${[...ancestors].join(' ')}` }
  if (value === null) return { outcome: 'absent', value }
  const plain = value.trim().toLowerCase()
  if (plain === 'deny' || plain === 'sameorigin') return { outcome: 'set', value }
  return { outcome: plain.startsWith('allow-from') ? 'allow-from' : 'invalid', value }
}

export function contentTypeOptions(seen: Seen): Found<OutcomeOf<'x-content-type-options'>> {
  const value = valueOf(seen, 'x-content-type-options')
  if (value === null) return { outcome: 'absent', value }
  return { outcome: value.trim().toLowerCase() === 'nosniff' ? 'nosniff' : 'invalid', value }
}

const PRIVATE_REFERRERS = ['no-referrer', 'same-origin', 'strict-origin', 'strict-origin-when-cross-origin']
const TELLING_REFERRERS = ['origin', 'origin-when-cross-origin', 'unsafe-url', 'no-referrer-when-downgrade']

export function referrerPolicy(seen: Seen): Found<OutcomeOf<'referrer-policy'>> {
  // Of several metas the last one that has a value counts.
  const meta = seen.metas.filter((one) => one.get('name')?.trim().toLowerCase() === 'referrer' && one.get('content')).at(-1)
  const told = [valueOf(seen, 'referrer-policy'), meta?.get('content')].filter((text) => typeof text === 'string')
  if (!told.length) return { outcome: 'absent', value: null }
  const value = told.join(', ')
  // Browsers take the last one that they know.
  const known = value
    .split(',')
    .map((policy) => policy.trim().toLowerCase())
    .findLast((policy) => PRIVATE_REFERRERS.includes(policy) || TELLING_REFERRERS.includes(policy))
  if (known === undefined) return { outcome: 'invalid', value }
  return { outcome: PRIVATE_REFERRERS.includes(known) ? 'private' : 'unsafe', value }
}

/** A header that has one of some values: which outcome each of them is. */
function oneOf<Outcome extends string>(
  seen: Seen,
  name: string,
  outcomes: Readonly<Record<string, Outcome>>,
): Found<Outcome | 'absent' | 'invalid'> {
  const value = valueOf(seen, name)
  if (value === null || !value.trim()) return { outcome: 'absent', value: null }
  const plain = value.split(';')[0]!.trim().toLowerCase()
  return { outcome: Object.hasOwn(outcomes, plain) ? outcomes[plain]! : 'invalid', value }
}

export const resourcePolicy = (seen: Seen): Found<OutcomeOf<'cross-origin-resource-policy'>> =>
  oneOf(seen, 'cross-origin-resource-policy', {
    'same-origin': 'same-origin',
    'same-site': 'same-site',
    'cross-origin': 'cross-origin',
  } as const)

export const embedderPolicy = (seen: Seen): Found<OutcomeOf<'cross-origin-embedder-policy'>> =>
  oneOf(seen, 'cross-origin-embedder-policy', { 'require-corp': 'set', credentialless: 'set', 'unsafe-none': 'unsafe-none' } as const)

export const openerPolicy = (seen: Seen): Found<OutcomeOf<'cross-origin-opener-policy'>> =>
  oneOf(seen, 'cross-origin-opener-policy', {
    'same-origin': 'set',
    'same-origin-allow-popups': 'set',
    'noopener-allow-popups': 'set',
    'unsafe-none': 'unsafe-none',
  } as const)

export function resourceSharing({ cors }: Seen): Found<OutcomeOf<'cross-origin-resource-sharing'>> {
  const value = cors ? valueOf(cors, 'access-control-allow-origin') : null
  if (!cors || value === null) return { outcome: 'none', value: null }
  if (value.trim() === '*') return { outcome: 'public', value }
  const withCredentials = valueOf(cors, 'access-control-allow-credentials')?.trim().toLowerCase() === 'true'
  return { outcome: withCredentials && value === cors.origin ? 'universal' : 'restricted', value }
}
