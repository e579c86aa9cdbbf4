/** The text of a page as HTML: rendered by the parser that the index is made with, code coloured, headings with anchors. */
import Prism from 'prismjs'
import loadLanguages from 'prismjs/components/index.js'
import { markdownToHtml } from 'satteri'
import type { Page } from './content.ts'
import { codeOf, headingsOf, parse } from './markdown.ts'
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

/** The text of a page, bare. */
export const plainHtmlOf = (page: Page): string => render(bodyOf(page))

const render = (markdown: string) => markdownToHtml(markdown, { features: { frontmatter: false, smartPunctuation: true } }).html

/** The text of a page; headings are so many levels lower, and have anchors where they are at their own. */
export function htmlOf(page: Page, lower = 0): string {
  const body = bodyOf(page)
  const tree = parse(body)
  const [headings, code] = [headingsOf(tree).values(), codeOf(tree).values()]
  return (
    render(body)
      .replace(/<h([1-6])>([^]*?)<\/h\1>/g, (_, depth: string, text: string) => {
        const { id } = headings.next().value!
        const level = Number(depth) + lower
        return lower
          ? `<h${level}>${text}</h${level}>`
          : `<h${level} id="${id}">${text} <a class="anchor" href="#${id}" aria-label="Link to this section" data-markdown-ignore>#</a></h${level}>`
      })
      .replace(/<table>/g, '<div class="scroll" tabindex="0"><table>')
      .replace(/<\/table>/g, '</table></div>')
      // The Content-Security-Policy allows no style attributes.
      .replace(/<(t[hd]) style="text-align: (center|right|left)">/g, '<$1 class="$2">')
      .replace(/<pre><code[^>]*>[^]*?<\/code><\/pre>/g, () => {
        const { text, language } = code.next().value!
        return `<div class="code"><pre tabindex="0"><code class="language-${language || 'text'}">${coloured(text, language)}</code></pre></div>`
      })
  )
}
