/** What is searched for, and what `/api/search` and the search page say of what was found. */
import { escapeHtml } from '../../api/values/html.ts'
import { decoded } from '../../api/hosting/paths.ts'
import { PLACES } from '../lib/areas.ts'
import { JSON_TYPE, SEARCH, VARY, type HeadersOf } from '../lib/headers.ts'
import type { Form } from '../../api/hosting/negotiate.ts'
import type { Fields } from '../../api/hosting/prepared.ts'
import type { Problem } from '../lib/problem.ts'
import { FOUND, FOUND_MAX, QUERY_MAX, type Found } from '../lib/search.ts'

/** A body that is made for one request. */
export interface Made {
  text: string
  fields: Fields
}

interface Wanted {
  q: string
  limit: number
}
const bad = (code: 'missing_parameter' | 'invalid_parameter', detail: string, resolution: string): Problem => ({
  status: 400,
  code,
  detail,
  resolution,
})

/** What a query asks for, or what is wrong with it. */
export function wanted(query: string): Wanted | Problem {
  if (decoded(query.replaceAll('+', ' ')) === null)
    return bad('invalid_parameter', 'The query has a percent sign that begins no escape.', 'Escape the query as RFC 3986 says.')
  const parameters = new URLSearchParams(query)
  for (const name of ['q', 'limit'])
    if (parameters.getAll(name).length > 1)
      return bad('invalid_parameter', `${name} is there more than once.`, `Send ${name} once; q takes several words.`)
  const q = parameters.get('q')?.trim()
  if (!q) return bad('missing_parameter', 'q, what to search for, is missing.', 'Send it percent-encoded: ?q=refund%20an%20order.')
  if (q.length > QUERY_MAX)
    return bad('invalid_parameter', `q has ${q.length} characters.`, `Search for at most ${QUERY_MAX} characters; a few words find more.`)
  const limit = parameters.get('limit') ?? String(FOUND)
  if (!/^[1-9]\d?$/.test(limit) || Number(limit) > FOUND_MAX)
    return bad('invalid_parameter', 'limit is no whole number from 1 to 50.', `Leave it out for ${FOUND}, or send 1 to ${FOUND_MAX}.`)
  return { q, limit: Number(limit) }
}

/** The words that a search page was asked for; none without. */
export const wordsIn = (query: string): string => (new URLSearchParams(query).get('q') ?? '').trim().slice(0, QUERY_MAX)

const titleOf = ({ title, heading }: Found) => (heading === title ? title : `${title}: ${heading}`)
const summaryOf = (words: string, found: readonly Found[]) =>
  found.length ? `${found.length} passage${found.length === 1 ? '' : 's'}` : `Nothing was found for “${words}”.`

/** The HTML of the search page with what was found, for those without scripts; with them, the page searches anew as one types. */
const pageWith = (html: string, words: string, found: readonly Found[]): string =>
  html
    .replace(/<input id="q"/, () => `<input id="q" value="${escapeHtml(words)}"`)
    .replace(/(<p role="status"[^>]*>)/, (opened) => opened + escapeHtml(summaryOf(words, found)))
    .replace(/(<ol data-search-results[^>]*>)/, (opened) => opened + found.map(itemOf).join(''))

const whereOf = ({ section, title, heading }: Found) => [PLACES[section] ?? section, ...(heading === title ? [] : [heading])].join(' › ')
const itemOf = (found: Found) =>
  `<li><a href="${escapeHtml(found.path)}">${escapeHtml(found.title)}${found.planned ? ' <span class="badge planned">Planned</span>' : ''}</a><small>${escapeHtml(whereOf(found))}</small><p>${escapeHtml(found.excerpt)}</p></li>`

/** The same as Markdown. */
function markdownWith(words: string, found: readonly Found[], base: string): string {
  const plain = (text: string) => text.replace(/[\\`*_[\]<>#|]/g, '\\$&')
  const list = found
    .map((entry) => `- [${plain(titleOf(entry))}](${base}${entry.path}): ${entry.planned ? 'Planned. ' : ''}${plain(entry.excerpt)}`)
    .join('\n')
  return `# Search: ${plain(words)}\n\n${plain(summaryOf(words, found))}\n\n${list}\n\n---\n\nAll pages: ${base}/llms.txt\n`
}

/** What `/api/search` says. */
export function jsonWith(found: readonly Found[], base: string): Made {
  const data = found.map(({ path, title, section, heading, excerpt, planned, score }) => ({
    title,
    url: base + path,
    section,
    heading,
    excerpt,
    planned,
    score,
  }))
  return { text: JSON.stringify({ data, meta: { count: data.length } }), fields: { 'content-type': JSON_TYPE } }
}

interface Shown {
  words: string
  found: readonly Found[]
  form: Form
}

/** The search page, completed; `template` gives its HTML. */
export function pageOf({ words, found, form }: Shown, headers: HeadersOf, template: () => string): Made {
  if (form === 'html') return { text: pageWith(template(), words, found), fields: { ...headers.ofHtml(SEARCH), ...VARY } }
  const fields = headers.ofMarkdown(SEARCH, form)
  const location = `${fields['content-location']}?q=${encodeURIComponent(words)}`
  return { text: markdownWith(words, found, headers.base), fields: { ...fields, ...VARY, 'content-location': location } }
}
