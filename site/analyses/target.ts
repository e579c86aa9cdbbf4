/** The storefront that a request names: the `url` of its query, in one spelling. */
import { isIP } from 'node:net'
import { parse } from 'tldts'
import { hostOf, type Places } from '../../api/outside/public-places.ts'
import type { Problem } from '../lib/problem.ts'

/** Of what is given as `url`, in characters. */
export const URL_MAX = 2_048

const EXAMPLE = 'Give the address of a public web page, such as url=https://shop.com/ or url=shop.com.'
const problem = (code: 'missing_parameter' | 'invalid_parameter', detail: string): Problem => ({
  status: 400,
  code,
  detail,
  resolution: EXAMPLE,
})
const unusable = (why: string) => problem('invalid_parameter', `\`url\` can't be used: ${why}.`)

/** A host has a dot and ends in a suffix of the public DNS. */
function isPublicName(host: string): boolean {
  const { isIcann, isPrivate, hostname } = parse(host, { allowPrivateDomains: true })
  return host.includes('.') && hostname !== null && (isIcann === true || isPrivate === true)
}

/** Whether a URL is on the list of what may be asked although nobody outside can: its name needs no suffix. */
const isListed = (url: URL, allow: readonly string[]) =>
  allow.includes(`${url.hostname.toLowerCase()}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`)

/** Reads `url` out of a query; it is looked at alone, nothing is asked. `allow`: `FETCH_ALLOW`. */
export function targetOf(query: string, places: Pick<Places, 'refusal'>, allow: readonly string[]): URL | Problem {
  const given = new URLSearchParams(query).getAll('url')
  if (given.length === 0) return problem('missing_parameter', '`url` is missing: the address of the page to look at.')
  if (given.length > 1) return unusable('it is there more than once')
  const text = given[0]!.trim()
  if (!text) return unusable('it is empty')
  if ([...text].length > URL_MAX) return unusable(`it has more than ${URL_MAX} characters`)
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`
  if (!URL.canParse(address)) return unusable('it is neither an http or https address nor a host')
  const url = new URL(address)
  url.hash = ''
  // Before what is not public: who types a name alone has forgotten its ending.
  const isName = !isIP(hostOf(url)) && !isListed(url, allow)
  if (isName && !hostOf(url).includes('.')) return unusable('its host has no ending of the public internet')
  const refusal = places.refusal(url)
  if (refusal !== null) return unusable(refusal)
  if (!isName || isPublicName(hostOf(url))) return url
  return unusable('its host has no ending of the public internet')
}
