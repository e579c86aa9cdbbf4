/** The content as Astro's pages read it: once for a build. */
import { readContent, type Content } from './content.ts'
import { readPricing, type Pricing } from './pricing.ts'

let content: Content | undefined
let pricing: Pricing | undefined

export const source = (): Content => (content ??= readContent(process.cwd()))
export const prices = (): Pricing => (pricing ??= readPricing(process.cwd()))
