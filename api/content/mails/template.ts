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
const PLACE = /\{\{([^{}|]*)(?:\|([^{}]*))?\}\}/g
const namesIn = (text: string) => [...text.matchAll(PLACE)].map(([, name]) => name!.trim())

/** Refuses variables that a kind of mail does not have, by their names, and what begins as one. */
export function requireKnown(kind: TemplateKind, field: 'subject' | 'body', text: string) {
  const known = Object.keys(KINDS[kind].variables)
  const unknown = [...new Set(namesIn(text))].filter((name) => !known.includes(name))
  if (/\{\{|\}\}/.test(text.replace(PLACE, ''))) throw wrong(field, 'has a variable that is not whole: write {{name}}')
  if (unknown.length) throw wrong(field, `has unknown variables: ${unknown.slice(0, 20).join(', ')}. There are ${known.join(', ')}`)
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
export const oneLine = (text: string) => text.replace(/[\p{Cc}\s]+/gu, ' ').trim()
/** A value where an address stands: one that is whole as it is, anything else as a part of one. */
const addressOf = (value: string) => URL.parse(value)?.href ?? encodeURIComponent(value)
const isWeb = (url: string) => /^https?:\/\//i.test(url)

function htmlOf(value: Value): string {
  if (typeof value === 'string') return escapeHtml(oneLine(value))
  if ('html' in value) return value.html.text
  return isWeb(value.url) ? `<a href="${escapeHtml(value.url)}">${escapeHtml(value.url)}</a>` : escapeHtml(value.url)
}

/** Bun's own reader: whatever it is given, it takes a time that grows with the length alone. */
const MARKDOWN = { noHtmlBlocks: true, noHtmlSpans: true, autolinks: true } as const

/** A template whose places have marks that nobody can guess, so that no value is ever taken for one. */
interface Marked {
  text: string
  /** What a mark looks like, with the number of its place as the one group. */
  mark: string
  valueAt(place: string | undefined): Value
}

function marked(body: string, values: Values): Marked {
  const sign = `place${crypto.randomUUID().replaceAll('-', '')}n`
  const places: Value[] = []
  const text = body.replace(
    PLACE,
    (_, name: string, otherwise?: string) => `${sign}${places.push(valueOf(values, name.trim(), otherwise)) - 1}e`,
  )
  return { text, mark: `${sign}(\\d+)e`, valueAt: (place) => places[Number(place)] ?? '' }
}

/**
 * Markdown as HTML, in which HTML is text, with values in their places: they are put in after it was read, in one go, so that nothing
 * in them can be Markdown, or a place, or anything else.
 */
function htmlBody({ text, mark, valueAt }: Marked): string {
  const inner = new RegExp(mark, 'g')
  const attribute = (name: string, words: string) => {
    const isAddress = name === 'href' || name === 'src'
    const filled = words.replace(inner, (_, place: string) => {
      const plain = oneLine(plainOf(valueAt(place)))
      return escapeHtml(isAddress ? addressOf(plain) : plain)
    })
    return `${name}="${!isAddress || /^(https?:|mailto:|tel:|[/#?])/i.test(filled) ? filled : '#'}"`
  }
  /** A piece of its own stands in no paragraph; one that is empty leaves none behind. */
  const paragraph = (value: Value) => {
    if (!plainOf(value)) return ''
    return typeof value === 'object' && 'html' in value ? value.html.text : `<p>${htmlOf(value)}</p>`
  }
  return Bun.markdown
    .html(text, MARKDOWN)
    .replace(
      new RegExp(`<p>${mark}</p>|(?<=\\s)([a-z-]{1,20})="([^"]*)"|${mark}`, 'g'),
      (_, alone: string | undefined, name: string | undefined, words: string | undefined, place: string | undefined) =>
        alone !== undefined ? paragraph(valueAt(alone)) : name !== undefined ? attribute(name, words!) : htmlOf(valueAt(place)),
    )
    .trimEnd()
}

/** A mail as text, and what its values say there. */
function textBody({ text, mark, valueAt }: Marked): string {
  const words = readable(text).replace(new RegExp(mark, 'g'), (_, place: string) => {
    const value = valueAt(place)
    return typeof value === 'object' && 'html' in value ? value.text : oneLine(plainOf(value))
  })
  const rows = words.split('\n').map((row) => row.trimEnd())
  return `${rows
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()}\n`
}

/** Refuses a body that does not show the variable that its kind is of no use without. */
export function requireNeeded(kind: TemplateKind, body: string) {
  const { needed } = KINDS[kind]
  if (!needed) return
  const probe = `https://${crypto.randomUUID()}.example`
  const shown = htmlBody(marked(body, { [needed]: probe })).replace(/<(?!a )[^<>]*>/g, '')
  if (!shown.includes(probe)) throw wrong('body', `must have {{${needed}}}`)
}

/** Markdown as people write mails: without the signs for headings and emphasis, the address of a link behind its words. */
const readable = (body: string) =>
  body
    .replace(/^#{1,6}[ \t]+/gm, '')
    .replace(/!\[([^[\]]{0,500})\]\([^()]{0,2500}\)/g, '$1')
    .replace(/\[([^[\]]{0,500})\]\(<?([^()\s<>]{0,2048})>?(?:\s[^()]{0,500})?\)/g, (_, words: string, url: string) =>
      words === url ? url : `${words}: ${url}`,
    )
    .replace(/(\*\*|__)(?=\S)(.{1,500}?)(?<=\S)\1/g, '$2')
    .replace(/(?<![\w*])([*_])(?=[^\s*_])([^*_\n]{1,500}?)(?<=[^\s*_])\1(?![\w*])/g, '$2')

/** The mail that a template makes: a subject, and a body in both forms. */
export function filled({ subject, body }: Template, values: Values): { subject: string; text: string; html: string } {
  const whole = marked(body, values)
  const title = subject.replace(PLACE, (_, name: string, otherwise?: string) => oneLine(plainOf(valueOf(values, name.trim(), otherwise))))
  return { subject: oneLine(title).slice(0, 300), text: textBody(whole), html: htmlBody(whole) }
}
