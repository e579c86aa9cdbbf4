/** One file of the content as readers get it: what it quotes is filled in, what its requests need is said, and what is wrong with it reported. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import matter from 'gray-matter'
import type { Json } from '../../api/openapi/schemas.ts'
import { withFigures, type Figure } from './figures.ts'
import { codeOf, foreignTo, headingsOf, linksOf, parse } from './markdown.ts'
import { needsOf, unexplained } from './needs.ts'
import type { Project } from './project.ts'
import { tagOf, withReference } from './reference.ts'
import { CODE_COLUMNS } from './wrapped.ts'

/** The longest body that a page may have, in bytes: two pages that agents can read in one go. */
const BODY_MAX_BYTES = 48_000
export type Report = (file: string, problem: string, line?: number) => void

/** What reading a page needs: where it is, who hears of problems, and what its directions are filled in from. */
export interface Reading {
  root: string
  report: Report
  document: Json
  figures: readonly Figure[]
  project: Project
}

/** Lines that quote something of the project go where it is empty; `{when:licence}` and `{unless:licence}` at the end of a line say so of it. */
function withProject(text: string, project: Project): string {
  // To look at every line of every page takes a tenth of reading them.
  if (!/\{(project|when|unless):/.test(text)) return text
  return text.replace(/^.*\{(project|when|unless):(\w+)\}.*\n?/gm, (line, kind: string, name: string) => {
    const value = project[name as keyof Project]
    if (Boolean(value) === (kind === 'unless')) return ''
    return line.replace(kind === 'project' ? `{project:${name}}` : ` {${kind}:${name}}`, kind === 'project' ? value : '')
  })
}

/** Languages that show what a program prints, as it is. */
const PRINTED = new Set(['text', 'console', 'dot'])

/** Whether a line of code is too long; what can't be broken, one word or one text of JSON, is not. */
const isWide = (row: string, language: string) =>
  [...row].length > CODE_COLUMNS &&
  !PRINTED.has(language) &&
  !/^\s*\S+( \\)?$/.test(row) &&
  !((language === 'json' || language === 'sh') && /^\s*("\w+": )?"[^"]*(\\.[^"]*)*",?$/.test(row))

/** Whether the requests of a page are introduced by what they need; the first steps and the pages of the package say it themselves. */
const hasNeeds = (file: string) => /^content\/(docs|help)\//.test(file) && !/^content\/docs\/(getting-started|commerce-sdk)\//.test(file)

/** The text with what its requests need behind its first paragraph; a notice stands before that. */
function withNeeds(text: string, needs: string | null): string {
  const paragraphs = text.split('\n\n')
  const at = paragraphs.findIndex((paragraph) => !paragraph.startsWith('>')) + 1
  return needs && at > 0 ? paragraphs.toSpliced(at, 0, needs).join('\n\n') : text
}

/** The text of a file as readers get it, with what its parts are; its problems are reported. */
export function readText({ root, report, document, figures, project }: Reading, file: string) {
  const source = readFileSync(join(root, file), 'utf8')
  let parsed: matter.GrayMatterFile<string>
  try {
    // An empty options object keeps gray-matter from answering with what it remembers of an earlier reading.
    parsed = matter(source, {})
  } catch (error) {
    report(file, `the frontmatter can't be read: ${(error as Error).message.split('\n')[0]}`)
    return null
  }
  const problem = (text: string) => report(file, text)
  const written = withFigures(withProject(parsed.content.trim(), project), figures, problem)
  const whole = withReference(written, document, problem)
  const tree = parse(whole)
  const offset = source.slice(0, source.length - parsed.content.trimStart().length).split('\n').length - 1
  for (const { what, line } of foreignTo(tree)) report(file, `holds ${what}`, line + offset)
  const headings = headingsOf(tree)
  for (const [i, { text }] of headings.entries())
    if (headings.findIndex((other) => other.text === text) !== i) report(file, `has the heading ${JSON.stringify(text)} twice`)
  const shifted = <T extends { line: number }>(entries: T[]) => entries.map((entry) => ({ ...entry, line: entry.line + offset }))
  const code = shifted(codeOf(tree))
  const body = hasNeeds(file) ? withNeeds(whole, needsOf(code)) : whole
  if (Buffer.byteLength(body) > BODY_MAX_BYTES) report(file, `is ${Buffer.byteLength(body)} bytes long, ${BODY_MAX_BYTES} are allowed`)
  if (!body) report(file, 'has no text')
  for (const { text, language, line } of code) {
    const wide = text.split('\n').findIndex((row) => isWide(row, language))
    if (wide >= 0) report(file, `has a line of code of more than ${CODE_COLUMNS} columns`, line + wide + 1)
  }
  for (const name of unexplained(code, body)) problem(`reads $${name} in a command, and nowhere says what it is`)
  const fences = code.map(({ language, meta }) => ({ language, meta }))
  return { data: parsed.data, tag: tagOf(written, document), body, headings, fences, links: shifted(linksOf(tree)), code }
}
