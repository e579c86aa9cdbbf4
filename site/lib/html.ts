/** The text of a page as HTML: rendered by the parser that the index is made with, code coloured, headings with anchors. */
import type { Element } from 'hast'
import Prism from 'prismjs'
import loadLanguages from 'prismjs/components/index.js'
import { markdownToHtml, type HastVisitorContext } from 'satteri'
import type { Page } from './content.ts'
import { headingsOf, parse, type Section } from './markdown.ts'
import { bodyOf } from './texts.ts'

loadLanguages.silent = true

/** The colours of code, by the class that has each: which of Prism's kinds of token they show. What has no colour gets no markup. */
const COLOURS = Object.entries({
  n: ['number', 'boolean', 'constant'],
  f: ['property', 'function', 'parameter', 'variable', 'class-name', 'attr-name', 'section'],
  k: ['keyword', 'builtin'],
  s: ['string', 'attr-value'],
  c: ['comment'],
})

export const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Tokens as HTML, within something of the colour `around`. */
function tokensHtml(tokens: Prism.TokenStream, around?: string): string {
  if (typeof tokens === 'string') return escaped(tokens)
  if (Array.isArray(tokens)) return tokens.map((token) => tokensHtml(token, around)).join('')
  const kinds = [tokens.type, tokens.alias].flat()
  const colour = COLOURS.find(([, shown]) => shown.some((kind) => kinds.includes(kind)))?.[0] ?? around
  const inner = tokensHtml(tokens.content, colour)
  return colour === around ? inner : `<span class="${colour}">${inner}</span>`
}

/** Code with its words in colours; in a language that Prism does not know it stays plain. */
function coloured(code: string, language: string): string {
  if (language && !Prism.languages[language]) loadLanguages([language])
  const grammar = Prism.languages[language]
  return grammar ? tokensHtml(Prism.tokenize(code, grammar)) : escaped(code)
}

const FEATURES = { frontmatter: false, smartPunctuation: true }
const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6']

interface Visitor {
  filter: string[]
  visit(node: Readonly<Element>, context: HastVisitorContext): Element | void
}

/** The text of a page, bare. */
export const plainHtmlOf = (page: Page): string => markdownToHtml(bodyOf(page), { features: FEATURES }).html

/** Headings so many levels lower; those of the page itself have anchors where they are at their own, those of a quote or a list never. */
const headings = (ids: Iterator<Section>, lower: number): Visitor => ({
  filter: HEADINGS,
  visit(node, context) {
    if (lower) return { ...node, tagName: `h${Number(node.tagName[1]) + lower}` }
    if (context.parent(node)?.type !== 'root') return
    const { id } = ids.next().value!
    context.setProperty(node, 'id', id)
    const anchor = `<a class="anchor" href="#${id}" aria-label="Link to this section" data-markdown-ignore>#</a>`
    context.appendChild(node, { type: 'raw', value: ` ${anchor}` })
  },
})

/** Wide tables scroll by themselves. */
const tables: Visitor = {
  filter: ['table'],
  visit(node, context) {
    context.wrapNode(node, { type: 'element', tagName: 'div', properties: { className: ['scroll'], tabIndex: 0 }, children: [] })
  },
}

/** Cells are aligned by classes: the Content-Security-Policy allows no style attributes. */
const cells: Visitor = {
  filter: ['td', 'th'],
  visit(node, context) {
    const [, side] = /^text-align: (\w+)$/.exec(String(node.properties.style ?? '')) ?? []
    if (!side) return
    context.setProperty(node, 'style', null)
    context.setProperty(node, 'className', [side])
  },
}

const code: Visitor = {
  filter: ['pre'],
  visit(node, context) {
    const { lang } = (node.children[0] as Element).data as { lang?: string }
    const text = coloured(context.textContent(node).replace(/\n$/, ''), lang ?? '')
    const value = `<div class="code"><pre tabindex="0"><code class="language-${lang || 'text'}">${text}</code></pre></div>`
    context.replaceNode(node, { type: 'raw', value })
  },
}

/** The text of a page; headings are so many levels lower, and have anchors where they are at their own. */
export function htmlOf(page: Page, lower = 0): string {
  const body = bodyOf(page)
  const ids = headingsOf(parse(body)).values()
  const plugin = { name: 'page', element: [headings(ids, lower), tables, cells, code] }
  return markdownToHtml(body, { features: FEATURES, hastPlugins: [plugin] }).html
}
