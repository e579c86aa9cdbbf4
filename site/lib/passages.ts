/** The passages of a page, which the search finds: what stands before its first heading, and under each of its headings. */
import type { Nodes } from 'mdast'
import type { Page } from './content.ts'
import { headingsOf, parse, textOf } from './markdown.ts'
import type { Area } from './areas.ts'
import { isPlanned, ROADMAP, roadmapBody } from './planned.ts'
import { MEASURED, measuredBody } from './measured.ts'
import { pricingMarkdown } from './pricing.ts'
import { bodyOf, type Site } from './texts.ts'

export interface Passage {
  area: Area | 'pricing'
  /** Of the page. */
  path: string
  title: string
  /** Null where the passage stands before the first heading. */
  anchor: string | null
  /** The title of the page where the passage stands before the first heading. */
  heading: string
  text: string
  /** Of something that is not there yet. */
  isPlanned: boolean
}

/** Links to other pages, and nothing of its own. */
const LINKS_ALONE = 'Related'

/** The words of a block; cells and lines apart from each other. */
function wordsOf(node: Nodes): string {
  // Of a diagram, what it says in words.
  if (node.type === 'code' && node.lang === 'dot') return node.meta ?? ''
  if (node.type === 'tableRow') return `${node.children.map(textOf).join(' | ')}\n`
  const isBlock = 'children' in node && !['paragraph', 'heading'].includes(node.type)
  return isBlock ? node.children.map(wordsOf).join('\n') : textOf(node)
}

/** The paragraph of what requests need, which nearly every page has. */
const isNeeds = (node: Nodes) =>
  node.type === 'paragraph' && /^(You need an API key with|In the requests, \$|In TypeScript, stoa is)/.test(textOf(node))

/** The passages of a page in their order; those without words are left out. */
export function passagesOf(page: Page): Passage[] {
  const { kind: area, path, title } = page
  const tree = parse(bodyOf(page))
  const headings = headingsOf(tree).values()
  const planned = isPlanned(page)
  const passages: Passage[] = [{ area, path, title, anchor: null, heading: title, text: page.summary, isPlanned: planned }]
  for (const node of tree.children) {
    if (node.type === 'heading') {
      const { id, text } = headings.next().value!
      passages.push({ area, path, title, anchor: id, heading: text, text: '', isPlanned: planned })
    } else if (!isNeeds(node)) passages.at(-1)!.text += `\n${wordsOf(node)}`
  }
  return passages
    .map((passage) => ({ ...passage, text: passage.text.replace(/\s+/g, ' ').trim() }))
    .filter(({ heading, text }) => text && heading !== LINKS_ALONE)
}

/** A page that is made of data, whole. */
const madePassage = (area: Passage['area'], path: string, title: string, markdown: string): Passage => ({
  ...{ area, path, title, anchor: null, heading: title, isPlanned: false },
  text: wordsOf(parse(markdown)).replace(/\s+/g, ' ').trim(),
})

/** The pages of the plans, of what is planned and of what was measured. */
export const madePassages = ({ content, pricing }: Pick<Site, 'content' | 'pricing'>): Passage[] => [
  madePassage('pricing', '/pricing', 'Pricing', `What Stoa costs, and what each plan allows: is it free?\n\n${pricingMarkdown(pricing)}`),
  madePassage('docs', ROADMAP.path, ROADMAP.title, `The roadmap.\n\n${roadmapBody(content)}`),
  madePassage(
    'docs',
    MEASURED.path,
    MEASURED.title,
    `Benchmarks: how fast it is beside others.\n\n${measuredBody(content.figures, content.peers)}`,
  ),
]
