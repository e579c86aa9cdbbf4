/** The content as Astro's pages read it: once for a build. */
import { readContent, type Content } from './content.ts'
import { pastedAt } from './pasted.ts'
import { readPricing, type Pricing } from './pricing.ts'

/** While pages are edited, what was read so long ago is read again. */
const FRESH_MS = process.env.NODE_ENV === 'development' ? 300 : Infinity

let content: Content | undefined
let readAt = 0
let pricing: Pricing | undefined

export function source(): Content {
  if (!content || performance.now() - readAt > FRESH_MS) {
    const { STOA_SITE: base = 'http://127.0.0.1:4000', STOA_STORE_API: storeApi = 'http://127.0.0.1:3000' } = process.env
    content = pastedAt(readContent(process.cwd()), { base, storeApi })
    readAt = performance.now()
  }
  return content
}
export const prices = (): Pricing => (pricing ??= readPricing(process.cwd()))
