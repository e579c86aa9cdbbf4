/** Parts of a request's URL, without parsing the whole of it. Without a `Host` that can be one, it is the path and the query alone. */

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

/** The query of an absolute URL, without the question mark. */
export function searchOf(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at + 1)
}
