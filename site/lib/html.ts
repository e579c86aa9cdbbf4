/** The text of a page as HTML: rendered by the parser that the index is made with, code coloured, headings with anchors. */
import type { Element } from 'hast'
import Prism from 'prismjs'
import loadLanguages from 'prismjs/components/index.js'
import { markdownToHtml, type HastVisitorContext } from 'satteri'
import type { Page } from './content.ts'
import { svgOf } from './diagram.ts'
import { escaped, quoted } from './escaped.ts'
import { codeOf, headingsOf, parse, type Fence, type Section } from './markdown.ts'
import { darkOf, pictureIn } from './previews.ts'
import { written } from './curl.ts'
import { requestOf, statusOf, typescriptOf } from './requests.ts'
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

/** Kinds of token that are everywhere and have no colour: to find them takes a sixth of the time. */
const PLAIN = ['punctuation', 'operator'] as const
/** Grammars that are without them; they hold one another. */
const pruned = new Set<Prism.Grammar>()

function prune(grammar: Prism.Grammar) {
  if (pruned.has(grammar)) return
  pruned.add(grammar)
  for (const kind of PLAIN) delete grammar[kind]
  for (const patterns of Object.values(grammar))
    for (const pattern of [patterns].flat()) if (pattern && 'inside' in pattern && pattern.inside) prune(pattern.inside)
}

function grammarOf(language: string): Prism.Grammar | undefined {
  if (!language) return undefined
  if (!Prism.languages[language]) loadLanguages([language])
  const grammar = Prism.languages[language]
  if (grammar) prune(grammar)
  return grammar
}

/** The colours that were looked up, by the kinds of the tokens. */
const colours = new Map<string, string | undefined>()

/** The colour of a token; none where its kinds have none. */
function colourOf({ type, alias }: Prism.Token): string | undefined {
  const key = `${type} ${alias}`
  if (colours.has(key)) return colours.get(key)
  const kinds = [type, alias].flat()
  const colour = COLOURS.find(([, shown]) => shown.some((kind) => kinds.includes(kind)))?.[0]
  colours.set(key, colour)
  return colour
}

/** Tokens as HTML, within something of the colour `around`. */
function tokensHtml(tokens: Prism.TokenStream, around?: string): string {
  if (typeof tokens === 'string') return escaped(tokens)
  if (Array.isArray(tokens)) return tokens.map((token) => tokensHtml(token, around)).join('')
  const colour = colourOf(tokens) ?? around
  const inner = tokensHtml(tokens.content, colour)
  return colour === around ? inner : `<span class="${colour}">${inner}</span>`
}

/** Code with its words in colours; in a language that Prism does not know it stays plain. */
function coloured(code: string, language: string): string {
  const grammar = grammarOf(language)
  return grammar ? tokensHtml(Prism.tokenize(code, grammar)) : escaped(code)
}

const FEATURES = { frontmatter: false, smartPunctuation: true }
const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6']

/** What has a text: a page, or the home page, of which the headings and fences have been read. */
type Text = Pick<Page, 'body'> & Partial<Pick<Page, 'frontmatter' | 'headings' | 'fences'>>

interface Visitor {
  filter: string[]
  visit(node: Readonly<Element>, context: HastVisitorContext): Element | void
}

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

/** Wide tables scroll by themselves; those of fields and parameters are a list where they would. */
const tables: Visitor = {
  filter: ['table'],
  visit(node, context) {
    const isOfFields = /^\s*(Field|Parameter)\s/.test(context.textContent(node))
    const className = isOfFields ? ['scroll', 'fields'] : ['scroll']
    context.wrapNode(node, { type: 'element', tagName: 'div', properties: { className, tabIndex: 0 }, children: [] })
  },
}

/**
 * What is done to the text of the finished page, in which all that authors wrote is escaped: paragraphs and cells are most of its nodes,
 * and each that is looked at is made for it.
 */
const finished = (html: string) =>
  html
    // The place of an operation, which the reference has in a paragraph of its own.
    .replace(
      /<p><code>(GET|POST|PUT|PATCH|DELETE) (\/[^\s<]+)<\/code><\/p>/g,
      (_, method: string, path: string) =>
        `<p class="op"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></p>`,
    )
    // Cells are aligned by classes: the Content-Security-Policy allows no style attributes.
    .replace(/<(t[dh]) style="text-align: (\w+)">/g, '<$1 class="$2">')

/** What is typed at a terminal stands out from what it says. */
const terminal = (text: string) =>
  text
    .split('\n')
    .map((line, i, lines) => (isTyped(lines, i) ? `<b>${escaped(line)}</b>` : escaped(line)))
    .join('\n')
/** A line with a prompt, or one that a line before goes on in. */
const isTyped = (lines: readonly string[], i: number): boolean =>
  lines[i]!.startsWith('$ ') || (i > 0 && lines[i - 1]!.endsWith('\\') && isTyped(lines, i - 1))

/** What blocks are called that say nothing else of themselves. */
const LANGUAGES: Record<string, string> = {
  console: 'Terminal',
  sh: 'Shell',
  json: 'JSON',
  ts: 'TypeScript',
  js: 'JavaScript',
  nginx: 'nginx',
  ini: 'Configuration',
  sql: 'SQL',
  text: 'Text',
}

/** Blocks of code under a head that says what each is: a request, its answer with the status, a file. */
function code(fences: Iterator<Fence>): Visitor {
  /** Of the request that stands right before. */
  let status: number | null = null
  return {
    filter: ['pre'],
    visit(node, context) {
      const { language, meta } = fences.next().value!
      const lang = language || 'text'
      const text = context.textContent(node).replace(/\n$/, '')
      if (lang === 'dot') return context.replaceNode(node, { type: 'raw', value: diagram(text, meta) })
      const request = lang === 'sh' ? requestOf(text) : null
      const answered = lang === 'json' ? status : null
      status = request && Number(/\bstatus=(\d{3})\b/.exec(meta)?.[1] ?? statusOf(request))
      const [, file] = /\bfile=(\S+)/.exec(meta) ?? []
      const what = request
        ? `<span class="method ${request.curl.method.toLowerCase()}">${request.curl.method}</span> ${escaped(
            written(request.curl.url)
              .replace(/^\$STORE_URL\/api\/v1/, '')
              .split('?')[0]!,
          )}`
        : answered
          ? `Answer <span class="${answered < 400 ? 'ok' : 'refused'}">${answered}</span>`
          : escaped(file ?? LANGUAGES[lang] ?? lang)
      const typed = request && !/\bstatus=/.test(meta) ? typescriptOf(request) : null
      const value = typed ? block(text, 'sh', what, TABS) + block(typed, 'ts', what, TABS) : block(text, lang, what)
      const isExample = /\bexample\b/.test(meta)
      context.replaceNode(node, {
        type: 'raw',
        value: isExample ? `<details class="example"><summary>Example</summary>${value}</details>` : value,
      })
    },
  }
}
const TABS = '<button type="button" data-tab="sh" hidden>curl</button><button type="button" data-tab="ts" hidden>TypeScript</button>'
const block = (text: string, language: string, what: string, tabs = '') =>
  `<div class="code${tabs && ` ${language}`}"${language === 'ts' && tabs ? ' data-markdown-ignore' : ''}><div class="head" data-markdown-ignore><span class="what">${what}</span>${tabs}</div><pre tabindex="0"><code class="language-${language}">${language === 'console' ? terminal(text) : coloured(text, language)}</code></pre></div>`
const diagram = (text: string, said: string) =>
  `<div class="diagram" role="img" aria-label="${quoted(said)}" data-markdown-ignore>${svgOf(text)}</div>`

/** Pictures of the shop are there in the light and in the dark; a browser loads the one that it shows. */
const pictures: Visitor = {
  filter: ['img'],
  visit(node, context) {
    const { src, alt } = node.properties as { src: string; alt: string }
    const size = pictureIn(src)
    if (!size) return
    const picture = (theme: string, path: string) =>
      `<img class="${theme}" src="${path}" width="${size.width}" height="${size.height}" loading="lazy" decoding="async" alt="${quoted(alt)}">`
    context.replaceNode(node, { type: 'raw', value: picture('light', src) + picture('dark', darkOf(src)) })
  },
}

/** The text of a page; headings are so many levels lower, and have anchors where they are at their own. */
export function htmlOf(page: Text, lower = 0): string {
  const body = bodyOf(page)
  // A release has one more, its fixes.
  const known = body === page.body ? page.headings : undefined
  const ids = (known ?? headingsOf(parse(body))).values()
  const fences = (page.fences ?? codeOf(parse(body))).values()
  const plugin = { name: 'page', element: [headings(ids, lower), tables, code(fences), pictures] }
  return finished(markdownToHtml(body, { features: FEATURES, hastPlugins: [plugin] }).html)
}
