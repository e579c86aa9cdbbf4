/** The checks that read more than a header: cookies, scripts, and where `http://` leads. Their rules are those of the Observatory. */
import { parse } from 'tldts'
import { Cookie, CookieJar } from 'tough-cookie'
import { strictTransportSecurity } from './headers.ts'
import type { OutcomeOf } from './outcomes.ts'
import type { Found, Seen } from './seen.ts'

/** Sticks a visitor to a server; nobody who runs the shop can change it. */
const IGNORED_COOKIES = ['heroku-session-affinity']

/** The cookies that a browser has after it has followed all redirects. */
function keptOf(answers: Seen['cookies']): Cookie[] {
  const jar = new CookieJar()
  for (const { url, lines } of answers) {
    // Asking for those of a request is when a jar lets go of what has expired.
    jar.getCookiesSync(url)
    for (const line of lines) jar.setCookieSync(line, url, { ignoreError: true })
  }
  const kept = jar.serializeSync()?.cookies ?? []
  return kept.flatMap((cookie) => Cookie.fromJSON(cookie) ?? []).filter(({ key }) => key && !IGNORED_COOKIES.includes(key))
}

/** Whether a `SameSite` is none that browsers know. */
const hasUnknownSameSite = (line: string) =>
  line.split(';').some((part) => {
    const [name = '', value = ''] = part.split('=')
    return name.trim().toLowerCase() === 'samesite' && !['lax', 'strict', 'none'].includes(value.trim().toLowerCase())
  })

type CookieOutcome = OutcomeOf<'cookies'>
/** Faults, the gravest last. */
const GRAVITY: readonly CookieOutcome[] = [
  'not-secure-hsts',
  'not-secure',
  'session-not-secure-hsts',
  'same-site-invalid',
  'csrf-not-same-site',
  'session-not-http-only',
  'session-not-secure',
]

function faultsOf({ key, secure, httpOnly, sameSite }: Cookie, hasHsts: boolean): CookieOutcome[] {
  const name = key.toLowerCase()
  const isSession = name.includes('login') || name.includes('sess')
  return [
    ...(sameSite?.toLowerCase() === 'none' && !secure ? (['same-site-invalid'] as const) : []),
    ...(secure ? [] : ([hasHsts ? 'not-secure-hsts' : 'not-secure'] as const)),
    ...(name.includes('csrf') && !sameSite ? (['csrf-not-same-site'] as const) : []),
    ...(isSession && !secure ? ([hasHsts ? 'session-not-secure-hsts' : 'session-not-secure'] as const) : []),
    ...(isSession && !httpOnly ? (['session-not-http-only'] as const) : []),
  ]
}

export function cookies(seen: Seen): Found<CookieOutcome> {
  const kept = keptOf(seen.cookies)
  if (!kept.length) return { outcome: 'none', value: null }
  const hasHsts = ['preloaded', 'long'].includes(strictTransportSecurity(seen).outcome)
  const ofPage = seen.cookies.at(-1)?.lines ?? []
  const faults = [
    ...kept.flatMap((cookie) => faultsOf(cookie, hasHsts)),
    ...(ofPage.some(hasUnknownSameSite) ? (['same-site-invalid'] as const) : []),
  ]
  const worst = faults.toSorted((a, b) => GRAVITY.indexOf(b) - GRAVITY.indexOf(a))[0]
  const isSaid = kept.every(({ sameSite }) => sameSite)
  return { outcome: worst ?? (isSaid ? 'same-site' : 'secure'), value: kept.map(({ key }) => key).join(', ') }
}

type ScriptOutcome = OutcomeOf<'subresource-integrity'>
const SCRIPT_GRAVITY: readonly ScriptOutcome[] = ['all', 'external', 'insecure-with', 'external-without', 'insecure-without']

/** The address of a script as it is judged: whole ones in their usual spelling, others as they stand there. */
function addressOf(src: string, base: string | null): string {
  const whole = base !== null && /^\s*https?:/i.test(base) && URL.canParse(src, base) ? new URL(src, base).href : src
  return /^\s*https?:/i.test(whole) && URL.canParse(whole) ? new URL(whole).href : whole
}

/** What one script says of the page; null for one that says nothing. */
function worthOf(src: string, integrity: string | undefined, url: URL): { outcome: ScriptOutcome | null; isForeign: boolean } {
  const isRelativeProtocol = /^\/\/[^/]/.test(src)
  const isAbsolute = /^https?:\/\//.test(src)
  const isOwn = !isRelativeProtocol && (!isAbsolute || parse(src).domain === parse(url.hostname).domain)
  const isSecure = isAbsolute ? src.startsWith('https:') : !isRelativeProtocol && url.protocol === 'https:'
  if (isOwn) return { outcome: integrity && isSecure ? 'all' : null, isForeign: false }
  if (integrity) return { outcome: isSecure ? null : 'insecure-with', isForeign: true }
  return { outcome: isSecure ? 'external-without' : 'insecure-without', isForeign: true }
}

export function subresourceIntegrity(seen: Seen): Found<ScriptOutcome> {
  if (!seen.isHtml) return { outcome: 'not-html', value: null }
  if (!seen.scripts.length) return { outcome: 'none', value: null }
  let worst: ScriptOutcome | null = null
  let [hasForeign, example] = [false, null as string | null]
  for (const { src, attributes } of seen.scripts) {
    if (!src) continue
    const { outcome, isForeign } = worthOf(addressOf(src, seen.base), attributes.get('integrity'), seen.url)
    hasForeign ||= isForeign
    // That own scripts say what they are is a bonus for a page without faults.
    if (outcome === null || (outcome === 'all' && worst !== null)) continue
    if (worst === null || SCRIPT_GRAVITY.indexOf(outcome) > SCRIPT_GRAVITY.indexOf(worst)) [worst, example] = [outcome, src]
  }
  return { outcome: worst ?? (hasForeign ? 'external' : 'own'), value: example }
}

export function redirection({ httpRoute, isPreloaded }: Seen): Found<OutcomeOf<'redirection'>> {
  if (!httpRoute) return { outcome: 'no-http', value: null }
  const route = httpRoute.map((url) => new URL(url))
  const value = httpRoute.join(' -> ')
  const [first, second] = route
  if (route.every(({ hostname }) => isPreloaded(hostname))) return { outcome: 'preloaded', value }
  if (!second) return { outcome: 'missing', value }
  if (route.at(-1)!.protocol !== 'https:') return { outcome: 'not-https', value }
  if (second.protocol === 'http:') return { outcome: 'late-https', value }
  return { outcome: first!.hostname === second.hostname ? 'https' : 'other-host', value }
}
