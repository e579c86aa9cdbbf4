/** Reading Markdown: its headings with their anchors, its links, its code; and writing it anew. */
import GithubSlugger from 'github-slugger'
import type { Code, Heading, Nodes, Paragraph, Root } from 'mdast'
import { remark } from 'remark'
import remarkGfm from 'remark-gfm'
import { markdownToMdast } from 'satteri'

/** Of the text that was asked for last: what is made of a page, one after the other, reads the same tree. */
let last: { markdown: string; tree: Root } | undefined

/** The tree of a Markdown text, by the parser that also renders the pages: what is read here is what readers see. Nobody changes it. */
export function parse(markdown: string): Root {
  if (last?.markdown !== markdown) last = { markdown, tree: markdownToMdast(markdown, { features: { frontmatter: false } }) as Root }
  return last.tree
}

export interface Section {
  /** 2 to 6. */
  depth: number
  text: string
  /** The anchor, as Astro and GitHub make it. */
  id: string
}

export interface Link {
  url: string
  /** Line in the text, from 1. */
  line: number
}

/** How a block of code begins. */
export interface Fence {
  language: string
  /** What stands behind the language. */
  meta: string
}

export interface CodeBlock extends Fence {
  text: string
  line: number
}

/** Calls `see` with each node, outer ones first. */
export function walk(node: Nodes, see: (node: Nodes) => void) {
  see(node)
  if ('children' in node) for (const child of node.children) walk(child, see)
}

/** The words of a node, without its markup. */
export function textOf(node: Nodes): string {
  if ('value' in node) return node.type === 'html' ? '' : node.value
  return 'children' in node ? node.children.map(textOf).join('') : ''
}

export function headingsOf(tree: Root): Section[] {
  const slugger = new GithubSlugger()
  return tree.children
    .filter((node): node is Heading => node.type === 'heading')
    .map((node) => ({ depth: node.depth, text: textOf(node), id: slugger.slug(textOf(node)) }))
}

export function linksOf(tree: Root): Link[] {
  const links: Link[] = []
  walk(tree, (node) => {
    if (node.type === 'link' || node.type === 'image' || node.type === 'definition')
      links.push({ url: node.url, line: node.position!.start.line })
  })
  return links
}

export function codeOf(tree: Root): CodeBlock[] {
  const blocks: CodeBlock[] = []
  walk(tree, (node) => {
    if (node.type !== 'code') return
    const { lang, meta, value, position } = node as Code
    blocks.push({ language: lang ?? '', meta: meta ?? '', text: value, line: position!.start.line })
  })
  return blocks
}

/** The lines of a paragraph that begin with a bar, as they were to be rows of a table. */
function barsIn({ children }: Paragraph): number[] {
  return children.flatMap((node, i) => {
    if (node.type !== 'text') return []
    const begins = i === 0 || children[i - 1]!.type === 'break'
    return node.value
      .split('\n')
      .flatMap((line, n) => (line.trimStart().startsWith('|') && (n || begins) ? node.position!.start.line + n : []))
  })
}

/** The kinds of node that pages may not hold: what is not plain Markdown. Comments are directions to the build. */
export function foreignTo(tree: Root): { what: string; line: number }[] {
  const found: { what: string; line: number }[] = []
  walk(tree, (node) => {
    if (node.type === 'html' && !/^<!--[^]*-->$/.test(node.value.trim()))
      found.push({ what: `HTML (${node.value.slice(0, 30)})`, line: node.position!.start.line })
    if (node.type === 'table' && node.children[0]!.children.some((cell) => textOf(cell).trim() === ''))
      found.push({ what: 'a table with a column that has no name', line: node.position!.start.line })
    const width = node.type === 'table' ? node.children[0]!.children.length : 0
    // What a row has more than its table is lost without a word; a line below that is no row has become one of a single cell.
    const odd = node.type === 'table' && node.children.find(({ children }) => children.length !== width)
    if (odd) found.push({ what: `a table of ${width} columns with a row of ${odd.children.length}`, line: odd.position!.start.line })
    if (node.type === 'paragraph')
      for (const line of barsIn(node)) found.push({ what: 'a line that begins with a bar and is in no table', line })
    if (node.type === 'heading' && node.depth === 1)
      found.push({ what: 'a heading of the first level: the title is one', line: node.position!.start.line })
  })
  return found
}

const lowering = remark()
  .use(remarkGfm)
  .use(
    () => (tree: Root) =>
      walk(tree, (node) => {
        if (node.type === 'heading' && node.depth < 6) node.depth++
      }),
  )
  .data('settings', { bullet: '-', rule: '-' })

/** Text to stand below another heading: its own are one level lower. */
export const lowered = (markdown: string): string => String(lowering.processSync(markdown)).trim()
