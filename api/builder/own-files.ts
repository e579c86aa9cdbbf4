/** The folder of a store's own files, as paths of its hosts name it. */
export const ownFolder = (storeId: string) => `/cdn/${storeId}/live/`

const patterns = new Map<string, RegExp>()
const PATTERNS_MAX = 500
function patternOf(storeId: string): RegExp {
  let pattern = patterns.get(storeId)
  if (!pattern) {
    if (patterns.size >= PATTERNS_MAX) patterns.clear()
    patterns.set(storeId, (pattern = new RegExp(`https?://[^/"\\\\\\s]+(?:/[^"\\\\\\s]*?)?${ownFolder(storeId)}`, 'g')))
  }
  return pattern
}

/**
 * A text in which addresses of the store's own files are paths: they are asked for where the page is, on a preview's host or a custom domain,
 * without another connection, and are found though `BASE_URL` was another one when they were uploaded.
 */
export const withOwnPaths = (text: string, storeId: string) =>
  text.includes(ownFolder(storeId)) ? text.replace(patternOf(storeId), ownFolder(storeId)) : text
