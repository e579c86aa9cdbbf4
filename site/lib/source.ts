/** The content as Astro's pages read it: once for a build. */
import { readContent, type Content } from './content.ts'
import { readPricing, type Pricing } from './pricing.ts'

let content: Content | undefined
let pricing: Pricing | undefined

/** While pages are edited, each reading is a new one. */
const isEdited = process.env.NODE_ENV === 'development'

export const source = (): Content => (isEdited ? readContent(process.cwd()) : (content ??= readContent(process.cwd())))
export const prices = (): Pricing => (pricing ??= readPricing(process.cwd()))
