/**
 * The text of a page as HTML: rendered by the parser that the index is made with, code coloured, with what readers need added. Works
 * without scripts, which only show the buttons.
 */
import Prism from 'prismjs'
import loadLanguages from 'prismjs/components/index.js'
import { markdownToHtml } from 'satteri'
import type { Page } from './content.ts'
import { codeOf, headingsOf, parse } from './markdown.ts'
import { bodyOf } from './texts.ts'

loadLanguages.silent = true

const COPY = '<button type="button" class="copy" data-copy data-markdown-ignore hidden>Copy</button>'
export const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Code with its words in classes; in a language that Prism does not know it stays plain. */
function coloured(code: string, language: string): string {
  if (language && !Prism.languages[language]) loadLanguages([language])
  const grammar = Prism.languages[language]
  return grammar ? Prism.highlight(code, grammar, language) : escaped(code)
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
    markdownToHtml(body, { features: { frontmatter: false, smartPunctuation: true } })
      .html.replace(/<h([1-6])>([^]*?)<\/h\1>/g, (_, depth: string, text: string) => {
        const { id } = headings.next().value!
        const level = Number(depth) + lower
        return lower
          ? `<h${level}>${text}</h${level}>`
          : `<h${level} id="${id}">${text} <a class="anchor" href="#${id}" data-markdown-ignore><span aria-hidden="true">#</span><span class="hidden">Link to this section</span></a></h${level}>`
      })
      .replace(/<table>/g, '<div class="scroll" tabindex="0"><table>')
      .replace(/<\/table>/g, '</table></div>')
      // The Content-Security-Policy allows no style attributes.
      .replace(/<(t[hd]) style="text-align: (center|right|left)">/g, '<$1 class="$2">')
      .replace(/<pre><code[^>]*>[^]*?<\/code><\/pre>/g, () => {
        const { text, language } = code.next().value!
        const name = `language-${language || 'plaintext'}`
        return `<div class="code">${COPY}<pre class="${name}" tabindex="0"><code class="${name}">${coloured(text, language)}</code></pre></div>`
      })
  )
}
