/** URL slugs made from names. */
import anyAscii from 'any-ascii'
import { isUuid } from './uuid.ts'
import { normal } from './compared.ts'

const SLUG_MAX = 120

/** Lowercase `a-z0-9-` of a name in any script (any-ascii transliterates); never empty, never shaped like a UUID. */
export function slugOf(name: string): string {
  const slug = anyAscii(normal(name))
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, SLUG_MAX)
    .replace(/-$/, '')
  if (!slug) return 'item'
  return isUuid(slug) ? `item-${slug}` : slug
}

/** The first of `slug`, `slug-2`, `slug-3`, … that is not among those taken (all that start with `slug`). */
export function freeSlug(slug: string, taken: Iterable<string>): string {
  const used = new Set(taken)
  if (!used.has(slug)) return slug
  for (let n = 2; ; n++) if (!used.has(`${slug}-${n}`)) return `${slug}-${n}`
}

/** Text in the form that searches compare: transliterated, lowercase. */
export const fold = (text: string) => anyAscii(normal(text)).toLowerCase()
