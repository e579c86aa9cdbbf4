/** What agents read first: what the shop is, where things are, and each page in a line. */
import type { APIRoute } from 'astro'
import { listedIn, type Listed } from '../data/listed.ts'
import { plain } from '../data/markdown.ts'
import { shop } from '../data/store.ts'

/** Longer lists lead to the pages that list the rest. */
const CHARACTERS_MAX = 48_000
const TITLES: Record<string, string> = {
  shop: 'Shop',
  categories: 'Categories',
  collections: 'Collections',
  brands: 'Brands',
  products: 'Products',
  bundles: 'Sets',
  events: 'Events',
  blog: 'Journal',
  legal: 'Legal',
}
const line = ({ path, name, about }: Listed) =>
  `- [${plain(name)}](${shop.base}${path === '/' ? '/index' : path}.md)${about ? `: ${plain(about).slice(0, 120)}` : ''}`

export const GET: APIRoute = () => {
  const [own, ...others] = shop.languages
  const head = `# ${plain(shop.name)}\n\n> An online shop. Every page is there as Markdown, too: with .md behind its address, or with Accept: text/markdown. Prices are in ${shop.currencies.map((code) => code.toUpperCase()).join(', ')}; a price or stock of this minute is at ${shop.base}/_shop/products/{slug} as JSON.\n`
  const foot = others.length
    ? `\n## Languages\n\n${others.map(({ code, path }) => `- [${code}](${shop.base}/${path}.md)`).join('\n')}\n`
    : ''
  let text = head
  // A page of a project's own is one without Markdown, until it has a kind that is known here.
  const listed = listedIn(own!).filter(({ kind }) => kind in TITLES)
  for (const [kind, entries] of Map.groupBy(listed, ({ kind }) => kind)) {
    const room = CHARACTERS_MAX - text.length - foot.length
    const lines: string[] = []
    let used = 0
    for (const entry of entries) {
      const written = line(entry)
      if (used + written.length > room - 200) break
      used += written.length + 1
      lines.push(written)
    }
    if (lines.length < entries.length)
      lines.push(`- [All ${entries.length}](${shop.base}/${kind === 'products' ? 'products.md' : 'sitemap.xml'})`)
    text += `\n## ${TITLES[kind]}\n\n${lines.join('\n')}\n`
  }
  return new Response(text + foot, { headers: { 'content-type': 'text/markdown; charset=utf-8' } })
}
