/** Addresses as clients write them. */

/** The path without percent escapes; null when they are broken. */
export function decoded(path: string): string | null {
  if (!path.includes('%')) return path
  try {
    return decodeURIComponent(path)
  } catch {
    return null
  }
}

/** The address that a page is asked for under another one; null when this is none. */
export function straight(path: string): string | null {
  const short = path
    .replace(/\/index(\.html)?$/, '/')
    .replace(/\.html$/, '')
    .replace(/(.)\/+$/, '$1')
  return short === path ? null : short
}

/** A document's address, as a page, as Markdown or in the API. */
const DOCUMENT = /^(\/api)?\/((docs|help)\/[^/]+\/[^/]+|(blog|changelog)\/[^/]+)$/
const AREA_CONTENTS = /^\/[^/]+\/(sitemap\.md|llms\.txt)$/

/** Whether a path has the shape of a document's address: then it is a document that is missing, not an endpoint. */
export const isDocumentShaped = (path: string) => DOCUMENT.test(path.replace(/\.md$/, '')) || AREA_CONTENTS.test(path)
