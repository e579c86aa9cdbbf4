/** A store's own files in texts about it: their addresses, and the paths that pages ask for them by. */

/** The folder of a store's own files, as paths of its hosts name it. */
export const ownFolder = (storeId: string) => `/cdn/${storeId}/live/`

/** What no URL has in it: the ends of a string of JSON, and white space. */
const ENDS = /["\\\s]/g
function endOfUrl(text: string, from: number): number {
  ENDS.lastIndex = from
  return ENDS.exec(text)?.index ?? text.length
}

/** Where the host begins of a URL that begins at `start`; null when it is none. */
function hostAfter(text: string, start: number): number | null {
  const marks = start + (text.startsWith('s', start + 4) ? 5 : 4)
  return text.startsWith('://', marks) ? marks + 3 : null
}

/**
 * A text in which addresses of the store's own files are paths: they are asked for where the page is, on a preview's host or a custom domain,
 * without another connection, and are found though `BASE_URL` was another one when they were uploaded. It may be any text of a merchant's:
 * the next URL, the next end of one and the next folder are each looked for from where the one before was, so that no part is read again.
 */
export function withOwnPaths(text: string, storeId: string): string {
  const folder = ownFolder(storeId)
  let own = text.indexOf(folder)
  if (own < 0) return text
  let [made, kept, end] = ['', 0, -1]
  for (let at = text.indexOf('http'); at >= 0;) {
    const host = hostAfter(text, at)
    let next = at + 1
    if (host !== null && text[host] !== '/') {
      if (own <= host) own = text.indexOf(folder, host + 1)
      if (own < 0) break
      if (end < host) end = endOfUrl(text, host)
      if (end > own && end > host) {
        made += text.slice(kept, at)
        kept = own
        next = own + folder.length
      } else next = Math.max(next, end)
    }
    at = text.indexOf('http', next)
  }
  return kept ? made + text.slice(kept) : text
}
