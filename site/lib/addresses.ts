/** Addresses as clients write them. */
import type { Problem } from './problem.ts'

/** Longer paths are read no further: the longest of the site has less than a tenth of this. */
export const PATH_MAX = 2_048

export const tooLong = (path: string, base: string): Problem => ({
  status: 414,
  code: 'uri_too_long',
  detail: `The path has ${path.length} characters; ${PATH_MAX} are read.`,
  resolution: `The addresses that there are stand in ${base}/llms.txt.`,
})

/** A document's address, as a page, as Markdown or in the API. */
const DOCUMENT = /^(\/api)?\/((docs|help)\/[^/]+\/[^/]+|(blog|changelog)\/[^/]+)$/
const AREA_CONTENTS = /^\/[^/]+\/(sitemap\.md|llms\.txt)$/

/** Whether a path has the shape of a document's address: then it is a document that is missing, not an endpoint. */
export const isDocumentShaped = (path: string) => DOCUMENT.test(path.replace(/\.md$/, '')) || AREA_CONTENTS.test(path)
