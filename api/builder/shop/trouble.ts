/** What a visitor of a shop is told when a page can not be shown: a small page, in the language of the address, or a line of JSON. */
import { prefersProblem } from '../../hosting/negotiate.ts'
import type { Refusal } from '../../values/refusal.ts'

const WORDS: Readonly<Record<string, Record<'many' | 'busy' | 'broken', readonly [title: string, text: string]>>> = {
  en: {
    many: ['That was too often', 'Please wait a little, then load the page again.'],
    busy: ['Back in a moment', 'The shop can not answer right now. Please load the page again in a minute.'],
    broken: ['This page could not be shown', 'That is our mistake. Please load the page again, or come back later.'],
  },
  de: {
    many: ['Das war zu oft', 'Bitte warte ein wenig und lade die Seite dann neu.'],
    busy: ['Gleich wieder da', 'Der Laden kann gerade nicht antworten. Bitte lade die Seite in einer Minute neu.'],
    broken: ['Diese Seite ließ sich nicht zeigen', 'Das liegt an uns. Bitte lade die Seite neu, oder schau später wieder vorbei.'],
  },
}
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
const STYLE =
  ':root{color-scheme:light dark}body{font:1.1rem/1.6 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1.5rem}h1{font-size:1.6rem}'

/** Answers a request whose page can not be shown, in a language; null: nobody knows why. */
export function trouble(request: Request, language: string, refusal: Refusal | null): Response {
  const status = refusal?.status ?? 500
  const headers = { ...refusal?.headers, 'cache-control': 'no-store', 'x-robots-tag': 'noindex' }
  if (prefersProblem(request.headers.get('accept')))
    return Response.json(refusal?.body ?? { error: 'the page could not be made' }, { status, headers })
  const primary = language.split('-')[0]!.toLowerCase()
  const code = Object.hasOwn(WORDS, primary) ? primary : 'en'
  const [title, text] = WORDS[code]![status === 429 ? 'many' : status > 500 ? 'busy' : 'broken']
  const html = `<!doctype html><html lang="${code}"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${STYLE}</style><h1>${title}</h1><p>${text}</p></html>\n`
  return new Response(request.method === 'HEAD' ? null : html, {
    status,
    headers: {
      ...headers,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
    },
  })
}
