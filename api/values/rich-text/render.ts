/**
 * Rich text as HTML and as Markdown: what storefronts, feeds and mails show of a ProseMirror document. An allow list of nodes, marks and
 * attributes: what is not on it leaves no trace but the text inside of it, and every address is looked at again, whatever was stored.
 */
import { Html, html, type Part } from '../html.ts'

interface Mark {
  type: string
  attrs: Record<string, unknown>
}
interface Node {
  type: string
  text: string
  attrs: Record<string, unknown>
  marks: Mark[]
  content: Node[]
}

/** Levels that are rendered: bodies nest no deeper. */
const DEPTH_MAX = 100

const object = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
/** `bullet_list` and `bulletList` are one name. */
const camel = (name: unknown) => (typeof name === 'string' ? name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) : '')

/** A node as the renderer takes it, whatever was stored. */
function nodeOf(value: unknown, depth = 0): Node {
  const { type, text, attrs, marks, content } = object(value)
  return {
    type: camel(type),
    text: typeof text === 'string' ? text : '',
    attrs: object(attrs),
    marks: list(marks).map((mark) => ({ type: camel(object(mark).type), attrs: object(object(mark).attrs) })),
    content: depth < DEPTH_MAX ? list(content).map((child) => nodeOf(child, depth + 1)) : [],
  }
}

/** Where a link or an image may lead; null when it may not. Browsers drop control characters and spaces before they look at a scheme. */
function addressOf(value: unknown, schemes: RegExp): string | null {
  if (typeof value !== 'string') return null
  const url = value.replace(/[\u0000-\u0020\u007f-\u009f\u00ad\u200b-\u200f\u2028\u2029\ufeff]/g, '').slice(0, 2_048)
  if (!url) return null
  const scheme = /^[^/?#]*:/.exec(url)?.[0].toLowerCase()
  return scheme === undefined || schemes.test(scheme) ? url : null
}
const linkOf = (value: unknown) => addressOf(value, /^(https?|mailto|tel):$/)
const imageOf = (value: unknown) => addressOf(value, /^https?:$/)
const text = (value: unknown) => (typeof value === 'string' ? value : '')
const whole = (value: unknown, min: number, max: number) =>
  typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max ? value : null
const levelOf = ({ attrs }: Node) => whole(attrs.level, 1, 6) ?? 2
const languageOf = ({ attrs }: Node) => /^[a-z0-9+#-]{1,30}$/i.exec(text(attrs.language))?.[0] ?? ''
/** All the text below a node, without its marks. */
const plainOf = (node: Node): string =>
  node.type === 'hardBreak' ? '\n' : node.text.replace(/\r\n?/g, '\n') + node.content.map(plainOf).join('')

const MARKS: Record<string, (inner: Html, mark: Mark) => Html> = {
  bold: (inner) => html`<strong>${inner}</strong>`,
  italic: (inner) => html`<em>${inner}</em>`,
  strike: (inner) => html`<s>${inner}</s>`,
  underline: (inner) => html`<u>${inner}</u>`,
  code: (inner) => html`<code>${inner}</code>`,
  subscript: (inner) => html`<sub>${inner}</sub>`,
  superscript: (inner) => html`<sup>${inner}</sup>`,
  link(inner, { attrs }) {
    const href = linkOf(attrs.href)
    return href === null ? inner : html`<a href="${href}" rel="noopener noreferrer">${inner}</a>`
  },
}
/** Other names of the same marks. */
const MARK_NAMES: Record<string, string> = { strong: 'bold', em: 'italic', s: 'strike', strikethrough: 'strike', u: 'underline' }
const markOf = ({ type }: Mark) => (Object.hasOwn(MARK_NAMES, type) ? MARK_NAMES[type]! : type)

const attribute = (name: string, value: number | null) => (value === null ? '' : new Html(` ${name}="${value}"`))
const cell = (name: string, node: Node) => {
  const spans: Part = [attribute('colspan', whole(node.attrs.colspan, 2, 100)), attribute('rowspan', whole(node.attrs.rowspan, 2, 100))]
  return html`${new Html(`<${name}`)}${spans}>${inside(node)}${new Html(`</${name}>`)}`
}
const inside = (node: Node): Html => html`${node.content.map(htmlOf)}`

const NODES: Record<string, (node: Node) => Html> = {
  paragraph: (node) => html`<p>${inside(node)}</p>`,
  heading: (node) => html`${new Html(`<h${levelOf(node)}>`)}${inside(node)}${new Html(`</h${levelOf(node)}>`)}`,
  blockquote: (node) => html`<blockquote>${inside(node)}</blockquote>`,
  bulletList: (node) => html`<ul>${inside(node)}</ul>`,
  orderedList: (node) => html`<ol${attribute('start', whole(node.attrs.start ?? node.attrs.order, 2, 1e6))}>${inside(node)}</ol>`,
  listItem: (node) => html`<li>${inside(node)}</li>`,
  taskList: (node) => html`<ul>${inside(node)}</ul>`,
  taskItem: (node) => html`<li>${node.attrs.checked === true ? '☑' : '☐'} ${inside(node)}</li>`,
  codeBlock(node) {
    const language = languageOf(node)
    return html`<pre><code${language && new Html(` class="language-${language}"`)}>${plainOf(node)}</code></pre>`
  },
  horizontalRule: () => html`<hr>`,
  hardBreak: () => html`<br>`,
  image({ attrs }) {
    const src = imageOf(attrs.src)
    if (src === null) return html``
    const size: Part = [attribute('width', whole(attrs.width, 1, 10_000)), attribute('height', whole(attrs.height, 1, 10_000))]
    const title = text(attrs.title)
    return html`<img src="${src}" alt="${text(attrs.alt)}"${title && html` title="${title}"`}${size} loading="lazy">`
  },
  table: (node) => html`<table><tbody>${inside(node)}</tbody></table>`,
  tableRow: (node) => html`<tr>${inside(node)}</tr>`,
  tableCell: (node) => cell('td', node),
  tableHeader: (node) => cell('th', node),
}

function htmlOf(node: Node): Html {
  if (node.type !== 'text') return Object.hasOwn(NODES, node.type) ? NODES[node.type]!(node) : inside(node)
  return node.marks.reduceRight(
    (inner, mark) => {
      const name = markOf(mark)
      return Object.hasOwn(MARKS, name) ? MARKS[name]!(inner, mark) : inner
    },
    html`${node.text}`,
  )
}

/** A document as HTML that may stand in any page; an empty text for what is none. */
export const richTextHtml = (document: unknown): string => inside(nodeOf(document)).text

/** Text that no reader of Markdown takes for anything else. */
const escaped = (line: string) => line.replace(/[\\`*_{}[\]<>#+\-!|~&$=]/g, '\\$&').replace(/^(\s*\d{1,9})([.)])/, '$1\\$2')
/** An address where Markdown has one: nothing in it ends it, or is read as the name of another character. */
const target = (url: string) =>
  url.replace(/[()<>\\\s|`]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`).replace(/&(?=#?\w+;)/g, '&amp;')
const label = (value: unknown) => escaped(text(value).replace(/\s+/g, ' '))
/** A fence that is longer than any in the text. */
const fenceOf = (code: string, least: number) => '`'.repeat(Math.max(least, ...[...code.matchAll(/`+/g)].map(([run]) => run.length + 1)))

/** A text on one line. It is taken apart where lines end: a pattern that looks for spaces around them takes forever over spaces. */
const oneLine = (text: string) =>
  /[\r\n]/.test(text)
    ? text
        .split(/[\r\n]/)
        .map((part, i, all) => (i ? (i < all.length - 1 ? part.trim() : part.trimStart()) : part.trimEnd()))
        .join(' ')
    : text

/** `inCell`: a bar would end the cell, even in code. */
function markedText(node: Node, inCell = false): string {
  const line = oneLine(node.text)
  const names = node.marks.map(markOf)
  const link = node.marks.find((mark) => mark.type === 'link')
  const href = link ? linkOf(link.attrs.href) : null
  const core = line.trim()
  if (!core) return line
  const before = line.slice(0, line.length - line.trimStart().length)
  const after = line.slice(line.trimEnd().length)
  let made = escaped(core)
  if (names.includes('code') && !(inCell && core.includes('|'))) {
    const fence = fenceOf(core, 1)
    made = fence.length > 1 ? `${fence} ${core} ${fence}` : `${fence}${core}${fence}`
  }
  for (const [name, sign] of [
    ['strike', '~~'],
    ['italic', '*'],
    ['bold', '**'],
  ] as const)
    if (names.includes(name)) made = sign + made + sign
  if (href !== null) made = `[${made}](${target(href)})`
  return before + made + after
}

/** The inline content of a node on one line; hard breaks are lines of their own where there may be any. */
function inline(node: Node, mayBreak = true, inCell = false): string {
  return node.content
    .map((child) => {
      if (child.type === 'text') return markedText(child, inCell)
      if (child.type === 'hardBreak') return mayBreak ? '\\\n' : ' '
      if (child.type === 'image') return imageMarkdown(child)
      return inline(child, false, inCell)
    })
    .join('')
    .trim()
}

function imageMarkdown({ attrs }: Node): string {
  const src = imageOf(attrs.src)
  return src === null ? '' : `![${label(attrs.alt)}](${target(src)})`
}

/** Characters that indenting may make of a block: each level adds to each line. What would be longer is left out. */
const INDENTED_MAX = 1_000_000
const linesIn = (block: string) => {
  let lines = 1
  for (let at = block.indexOf('\n'); at >= 0; at = block.indexOf('\n', at + 1)) lines++
  return lines
}
const indented = (block: string, by: string, first = by) =>
  block.length + linesIn(block) * by.length > INDENTED_MAX
    ? `${first}…`
    : first + block.replace(/\n(.?)/g, (_, next: string) => `\n${next ? by : by.trimEnd()}${next}`)

function items(node: Node, marker: (i: number, item: Node) => string): string {
  return node.content
    .map((item, i) => {
      const sign = marker(i, item)
      return indented(blocks(item), ' '.repeat(sign.length), sign)
    })
    .join('\n')
}

function tableMarkdown(node: Node): string {
  const rows = node.content.map((row) => row.content.map((each) => each.content.map((block) => inline(block, false, true)).join(' ')))
  const width = Math.min(100, Math.max(0, ...rows.map((row) => row.length)))
  if (!width) return ''
  const line = (cells: string[]) => `| ${Array.from({ length: width }, (_, i) => cells[i] ?? '').join(' | ')} |`
  const [head = [], ...rest] = rows
  return [line(head), line(Array.from({ length: width }, () => '---')), ...rest.map(line)].join('\n')
}

const BLOCKS: Record<string, (node: Node) => string> = {
  heading: (node) => `${'#'.repeat(levelOf(node))} ${inline(node, false)}`,
  blockquote: (node) => indented(blocks(node), '> '),
  bulletList: (node) => items(node, () => '- '),
  orderedList: (node) => items(node, (i) => `${i + (whole(node.attrs.start ?? node.attrs.order, 1, 1e6) ?? 1)}. `),
  taskList: (node) => items(node, (_, item) => (item.attrs.checked === true ? '- [x] ' : '- [ ] ')),
  codeBlock(node) {
    const code = plainOf(node)
    const fence = fenceOf(code, 3)
    return `${fence}${languageOf(node)}\n${code}\n${fence}`
  },
  horizontalRule: () => '---',
  image: imageMarkdown,
  table: tableMarkdown,
  listItem: (node) => blocks(node),
  taskItem: (node) => blocks(node),
}

const isInline = ({ type }: Node) => type === 'text' || type === 'hardBreak'

/** The blocks of a node, an empty line between them. */
function blocks(node: Node): string {
  if (node.content.length && node.content.every(isInline)) return inline(node)
  return node.content
    .map((child) => {
      if (Object.hasOwn(BLOCKS, child.type)) return BLOCKS[child.type]!(child)
      if (child.type === 'paragraph' || isInline(child)) return isInline(child) ? markedText(child) : inline(child)
      return blocks(child)
    })
    .filter(Boolean)
    .join('\n\n')
}

/** A document as Markdown (CommonMark with tables and strikethrough) that has no HTML in it; an empty text for what is none. */
export const richTextMarkdown = (document: unknown): string => blocks(nodeOf(document))
