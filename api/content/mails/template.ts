/** Templates of mails: Markdown with named variables, and the mail that is made of one. */
import { inArray, and, eq } from 'drizzle-orm'
import type { Reader } from '../../../db/driver.ts'
import { emailTemplates } from '../../../db/store/pages.ts'
import { escapeHtml, type Html } from '../../values/html.ts'
import { wrong } from '../../values/refusal.ts'
import { KINDS, type TemplateKind } from './kinds.ts'

/** What stands for a variable: text; an address that becomes a link; or a piece of its own in both forms of the mail. */
export type Value = string | { url: string } | { text: string; html: Html }
export type Values = Readonly<Record<string, Value>>

/** The words of a mail: one line, and Markdown. */
interface Template {
  subject: string
  body: string
}

/** `{{name}}`, or `{{name|what stands there when there is nothing}}`. */
const PLACE = /\{\{\s*([^{}|]*?)\s*(?:\|([^{}]*))?\}\}/g

/** Refuses variables that a kind of mail does not have, by their names, and what begins as one. */
export function requireKnown(kind: TemplateKind, field: 'subject' | 'body', text: string) {
  const known = Object.keys(KINDS[kind].variables)
  const unknown = [...new Set([...text.matchAll(PLACE)].map(([, name]) => name!))].filter((name) => !known.includes(name))
  if (/\{\{|\}\}/.test(text.replace(PLACE, ''))) throw wrong(field, 'has a variable that is not whole: write {{name}}')
  if (unknown.length) throw wrong(field, `has unknown variables: ${unknown.slice(0, 20).join(', ')}. There are ${known.join(', ')}`)
}

/** Refuses a body without the variable that its kind is of no use without. */
export function requireNeeded(kind: TemplateKind, body: string) {
  const { needed } = KINDS[kind]
  if (needed && ![...body.matchAll(PLACE)].some(([, name]) => name === needed)) throw wrong('body', `must have {{${needed}}}`)
}

/** The template of a kind in a language: the store's own for it, else the store's own, else Stoa's. */
export async function templateOf(db: Reader, kind: TemplateKind, locale: string | null) {
  const own = await db
    .select()
    .from(emailTemplates)
    .where(and(eq(emailTemplates.kind, kind), inArray(emailTemplates.locale, locale === null ? [''] : ['', locale])))
  return own.find((row) => row.locale === locale) ?? own[0] ?? null
}

const plainOf = (value: Value | undefined) =>
  value === undefined ? '' : typeof value === 'string' ? value : 'url' in value ? value.url : value.text
/** What stands in a place: its value, or what it has instead of none. */
const valueOf = (values: Values, name: string, otherwise = ''): Value => (plainOf(values[name]) ? values[name]! : otherwise.trim())
/** Text of one line: line breaks would make headers, or structure, of what somebody else wrote. */
const line = (text: string) => text.replace(/[\p{Cc}\s]+/gu, ' ').trim()
/** A value where an address stands: one that is whole as it is, anything else as a part of one. */
const addressOf = (value: string) => URL.parse(value)?.href ?? encodeURIComponent(value)
const isWeb = (url: string) => /^https?:\/\//i.test(url)

function htmlOf(value: Value): string {
  if (typeof value === 'string') return escapeHtml(line(value))
  if ('html' in value) return value.html.text
  return isWeb(value.url) ? `<a href="${escapeHtml(value.url)}">${escapeHtml(value.url)}</a>` : escapeHtml(value.url)
}

/** Bun's own reader: whatever it is given, it takes a time that grows with the length alone. */
const MARKDOWN = { noHtmlBlocks: true, noHtmlSpans: true, autolinks: true } as const
/** Signs that no template has, and that Markdown takes for text; and the same as they stand in addresses. */
const [OPEN, CLOSE] = ['\uE000', '\uE001']
const MARK = /\uE000(\d+)\uE001/g
const MARK_IN_URL = /%EE%80%80(\d+)%EE%80%81/g

/**
 * Markdown as HTML, in which HTML is text, with values in their places: they are put in after it was read, so that nothing in them
 * can be Markdown, or anything else.
 */
function filledHtml(body: string, values: Values): string {
  const places: { name: string; otherwise: string }[] = []
  const marked = body
    .replaceAll(/[\uE000\uE001]/g, '')
    .replace(PLACE, (_, name: string, otherwise = '') => OPEN + (places.push({ name, otherwise }) - 1) + CLOSE)
  const read = Bun.markdown.html(marked, MARKDOWN)
  const valueAt = (index: string): Value => {
    const { name, otherwise } = places[Number(index)]!
    return valueOf(values, name, otherwise)
  }
  return (
    read
      .replace(/(alt|title)="([^"]*)"/g, (_, name: string, words: string) => {
        return `${name}="${words.replace(MARK, (__, index: string) => escapeHtml(line(plainOf(valueAt(index)))))}"`
      })
      .replace(/(href|src)="([^"]*)"/g, (_, name: string, url: string) => {
        const filled = url.replace(MARK_IN_URL, (__, index: string) => escapeHtml(addressOf(line(plainOf(valueAt(index))))))
        return `${name}="${/^(https?:|mailto:|tel:|[/#?])/i.test(filled) ? filled : '#'}"`
      })
      // A piece of its own stands in no paragraph; one that is empty leaves none behind.
      .replace(/<p>\uE000(\d+)\uE001<\/p>/g, (whole, index: string) => {
        const value = valueAt(index)
        if (!plainOf(value)) return ''
        return typeof value === 'object' && 'html' in value ? value.html.text : whole
      })
      .replace(MARK, (_, index: string) => htmlOf(valueAt(index)))
      .trimEnd()
  )
}

/** Markdown as people write mails: without the signs for headings and emphasis, the address of a link behind its words. */
const readable = (body: string) =>
  body
    .replace(/^#{1,6}[ \t]+/gm, '')
    .replace(/!\[([^\]]{0,500})\]\([^)]{0,2500}\)/g, '$1')
    .replace(/\[([^\]]{0,500})\]\(<?([^)\s>]{0,2048})[^)]{0,500}\)/g, (_, words: string, url: string) =>
      words === url ? url : `${words}: ${url}`,
    )
    .replace(/(\*\*|__)(?=\S)(.{1,500}?)(?<=\S)\1/g, '$2')
    .replace(/(?<![\w*])([*_])(?=[^\s*_])([^*_\n]{1,500}?)(?<=[^\s*_])\1(?![\w*])/g, '$2')

/** The mail that a template makes: a subject, and a body in both forms. */
export function filled({ subject, body }: Template, values: Values): { subject: string; text: string; html: string } {
  const textOf = (name: string, otherwise = '') => {
    const value = valueOf(values, name, otherwise)
    return typeof value === 'object' && 'html' in value ? value.text : line(plainOf(value))
  }
  return {
    subject: line(subject.replace(PLACE, (_, name: string, otherwise?: string) => line(plainOf(valueOf(values, name, otherwise))))).slice(
      0,
      300,
    ),
    text: `${readable(body)
      .replace(PLACE, (_, name: string, otherwise?: string) => textOf(name, otherwise))
      .split('\n')
      .map((row) => row.trimEnd())
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim()}\n`,
    html: filledHtml(body, values),
  }
}
