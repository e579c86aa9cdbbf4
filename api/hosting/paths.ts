/** Paths as clients write them. */

/** The path without percent escapes; null when they are broken. */
export function decoded(path: string): string | null {
  if (!path.includes('%')) return path
  try {
    return decodeURIComponent(path)
  } catch {
    return null
  }
}

/** Whether a path has a part that leads somewhere else than it says: `.` or `..`, plain or escaped (WHATWG URL, 4.3). */
export const hasDots = (path: string): boolean => path.split('/').some((part) => /^(\.|%2e){1,2}$/i.test(part))

/** The path without slashes at its end, but for the first. */
function unslashed(path: string): string {
  let end = path.length
  // Not a pattern: one that looks for the last slashes tries every slash there is.
  while (end > 1 && path[end - 1] === '/') end--
  return path.slice(0, end)
}

/** The address that a page is asked for under another one; null when this is none. */
export function straight(path: string): string | null {
  const short = unslashed(path.replace(/\/index(\.html)?$/, '/').replace(/\.html$/, ''))
  return short === path ? null : short
}

/** The file of a page, by its path. */
export const fileOfPage = (path: string) => (path === '/' ? 'index.html' : `${path.slice(1)}.html`)

/** The path of a page that was built as a file: `products/cup.html` as `/products/cup`. */
export const pageOf = (file: string) => (file === 'index.html' ? '/' : `/${file.replace(/\.html$/, '')}`)
