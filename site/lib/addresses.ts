/** Addresses as clients write them. */
import type { Problem } from './problem.ts'

/** The path without percent escapes; null when they are broken. */
export function decoded(path: string): string | null {
  if (!path.includes('%')) return path
  try {
    return decodeURIComponent(path)
  } catch {
    return null
  }
}

/** Longer paths are read no further: the longest of the site has less than a tenth of this. */
export const PATH_MAX = 2_048

export const tooLong = (path: string, base: string): Problem => ({
  status: 414,
  code: 'uri_too_long',
  detail: `The path has ${path.length} characters; ${PATH_MAX} are read.`,
  resolution: `The addresses that there are stand in ${base}/llms.txt.`,
})

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

/** A document's address, as a page, as Markdown or in the API. */
const DOCUMENT = /^(\/api)?\/((docs|help)\/[^/]+\/[^/]+|(blog|changelog)\/[^/]+)$/
const AREA_CONTENTS = /^\/[^/]+\/(sitemap\.md|llms\.txt)$/

/** Whether a path has the shape of a document's address: then it is a document that is missing, not an endpoint. */
export const isDocumentShaped = (path: string) => DOCUMENT.test(path.replace(/\.md$/, '')) || AREA_CONTENTS.test(path)
