/** The content as Astro's pages read it: once for a build, which gives it. */
import { readFileSync } from 'node:fs'
import { indexed, readContent, type Content } from './content.ts'
import { pastedAt } from './pasted.ts'
import { readPricing, type Pricing } from './pricing.ts'
import { readProject, type Project } from './project.ts'

/** While pages are edited, what was read so long ago is read again. */
const FRESH_MS = process.env.NODE_ENV === 'development' ? 300 : Infinity
const STDIN = 0

let content: Content | undefined
let readAt = 0
let pricing: Pricing | undefined
let own: Project | undefined

function read(): Content {
  const { STOA_SITE: base = 'http://127.0.0.1:4000', STOA_STORE_API: storeApi = 'http://127.0.0.1:3000', STOA_CONTENT: from } = process.env
  // Whoever builds has read it already; this waits until all of it is there.
  if (from === 'stdin') return indexed(JSON.parse(readFileSync(STDIN, 'utf8')))
  return pastedAt(readContent(process.cwd()), { base, storeApi })
}

export function source(): Content {
  if (!content || performance.now() - readAt > FRESH_MS) {
    content = read()
    readAt = performance.now()
  }
  return content
}
export const prices = (): Pricing => (pricing ??= readPricing(process.cwd()))
/** What every page says of the project; one that is made for a request reads nothing else. */
export const project = (): Project => (own ??= readProject(process.cwd(), () => {}))
