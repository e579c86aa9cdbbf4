/** The URL of a request: one form of it for all who read it, and its parts without parsing the whole. */
import { isUuid } from '../values/uuid.ts'

/**
 * The request with an absolute URL. Without a `Host` that can be one (HTTP/1.0, an empty one) it is a path as it was sent: whoever
 * looks for the path behind a host would find another one than a proxy did.
 */
export const absolute = (request: Request): Request =>
  request.url.startsWith('/') ? new Request(new URL(`http://localhost${request.url}`), request) : request

/**
 * Whether the `Host` of a request has escapes in it, which no name of DNS has: the URL has them undone, and whoever looked at the header before,
 * a proxy with rules for a host, has seen another name.
 */
export const hasEscapedHost = ({ headers }: Request): boolean => headers.get('host')?.includes('%') ?? false

/** The path and the query of a URL. */
export function targetOf(url: string): string {
  return url.startsWith('/') ? url : url.slice(url.indexOf('/', url.indexOf('//') + 2))
}

/** The path of a URL, without the query. */
export function pathOf(url: string): string {
  const target = targetOf(url)
  const end = target.indexOf('?')
  return end < 0 ? target : target.slice(0, end)
}

/** A path in one spelling, as its route reads it: escapes that need not be are none, UUIDs are in lower case. */
export const oneSpelling = (path: string) =>
  path
    .split('/')
    .map((part) => {
      const plain = decodeURIComponent(part)
      return encodeURIComponent(isUuid(plain) ? plain.toLowerCase() : plain)
    })
    .join('/')

/** The query of an absolute URL, without the question mark. */
export function searchOf(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at + 1)
}

/** Whether what fits a pattern opens something by itself: a token, the access code of an order. The code of a coupon does not. */
export const hasSecret = (pattern: string) => /\{token\}|\/tickets\/\{code\}/.test(pattern)
/** Words of paths are shorter, secrets longer. */
const WORD_MAX_LENGTH = 20

/**
 * A path as a log may keep it. A token in a path is a secret: where the pattern has one it stands for the path, and where no pattern is
 * known (a wrong method, a slash too many) whatever could be one is left out.
 */
export function loggable(path: string, pattern: string): string {
  if (hasSecret(pattern)) return pattern
  if (pattern !== 'unknown') return path.slice(0, 300)
  return path
    .slice(0, 300)
    .split('/')
    .map((part) => (part.length <= WORD_MAX_LENGTH || isUuid(part) ? part : '…'))
    .join('/')
}

/** Whether the escapes of a path are whole, and stand for UTF-8. */
export function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

/** Whether a person's browser asks: it wants a page. */
export const isBrowser = ({ headers }: Pick<Request, 'headers'>) => headers.get('accept')?.toLowerCase().includes('text/html') ?? false
