/** Recognising platforms and plugins by what they leave in a page. What there is to recognise is data (`content/scan/`). */
import type { Attributes, Markup } from '../reading/markup.ts'
import { addressIn } from '../reading/words.ts'

export const PLACES = ['header', 'cookie', 'meta', 'script', 'link', 'inline', 'html'] as const
type Place = (typeof PLACES)[number]

export interface Signal {
  in: Place
  match: string
  weight: number
}

export interface Evidence {
  in: Place
  match: string
}

/** A page as signals are looked for in it. */
export interface Traces {
  /** In lower case, by name. */
  headers: ReadonlyMap<string, string>
  cookies: readonly string[]
  /** Contents in lower case, by name. */
  metas: ReadonlyMap<string, string>
  /** Addresses of scripts and links, in lower case, a line each. */
  scripts: string
  links: string
  /** As they stand in the page. */
  inline: string
  /** Whether some start tag has a text in its source. */
  hasTagWith: (text: string) => boolean
}

interface Recognised {
  confidence: number
  evidence: Evidence[]
}

/** What is enough to be told. */
export const CONFIDENCE_LEAST = 0.5

function byName(metas: readonly Attributes[]): Map<string, string> {
  const all = new Map<string, string>()
  for (const meta of metas)
    for (const name of [meta.get('name'), meta.get('property')])
      if (name) all.set(name.toLowerCase(), `${all.get(name.toLowerCase()) ?? ''}${(meta.get('content') ?? '').toLowerCase()}\n`)
  return all
}

/** What a page shows of what it is made with. `url` is where it was read. */
export function tracesOf(
  markup: Markup,
  { url, headers, cookies }: { url: URL; headers: readonly (readonly [string, string])[]; cookies: readonly string[] },
): Traces {
  const base = new URL(addressIn(markup.base, url) ?? url)
  const addresses = (texts: readonly (string | null | undefined)[]) =>
    texts
      .flatMap((text) => addressIn(text, base) ?? [])
      .join('\n')
      .toLowerCase()
  const lines = new Map<string, string>()
  for (const [name, value] of headers) lines.set(name.toLowerCase(), `${lines.get(name.toLowerCase()) ?? ''}${value.toLowerCase()}\n`)
  return {
    headers: lines,
    cookies: cookies.map((cookie) => cookie.split('=')[0]!.trim()),
    metas: byName(markup.metas),
    scripts: addresses(markup.scripts.map(({ src }) => src)),
    links: addresses(markup.links.map((link) => link.get('href'))),
    inline: markup.scripts.flatMap(({ src, text }) => (src === null ? text : [])).join('\n'),
    hasTagWith: (text) => markup.hasTagWith(text),
  }
}

/** What a signal compares, made once for each: it is compared with every page. */
const prepared = new WeakMap<Signal, (traces: Traces) => boolean>()

/** `name` has to be there, and with a text behind `separator` has to contain it. */
function names(match: string, separator: string): (all: ReadonlyMap<string, string>) => boolean {
  const at = match.indexOf(separator)
  const name = (at < 0 ? match : match.slice(0, at)).trim().toLowerCase()
  const wanted =
    at < 0
      ? ''
      : match
          .slice(at + 1)
          .trim()
          .toLowerCase()
  return (all) => all.get(name)?.includes(wanted) ?? false
}

const FINDS: Record<Place, (match: string) => (traces: Traces) => boolean> = {
  header: (match) => {
    const has = names(match, ':')
    return ({ headers }) => has(headers)
  },
  cookie: (match) => {
    const start = match.endsWith('*') ? match.slice(0, -1) : null
    return ({ cookies }) => (start === null ? cookies.includes(match) : cookies.some((cookie) => cookie.startsWith(start)))
  },
  meta: (match) => {
    const has = names(match, '=')
    return ({ metas }) => has(metas)
  },
  script: (match) => {
    const wanted = match.toLowerCase()
    return ({ scripts }) => scripts.includes(wanted)
  },
  link: (match) => {
    const wanted = match.toLowerCase()
    return ({ links }) => links.includes(wanted)
  },
  inline:
    (match) =>
    ({ inline }) =>
      inline.includes(match),
  html:
    (match) =>
    ({ hasTagWith }) =>
      hasTagWith(match),
}

function finds(signal: Signal, traces: Traces): boolean {
  let find = prepared.get(signal)
  if (!find) prepared.set(signal, (find = FINDS[signal.in](signal.match)))
  return find(traces)
}

/** How sure it is that something with these signals made the page: 1 less the chance that all that was found is by accident. */
export function recognise(traces: Traces, signals: readonly Signal[]): Recognised {
  const found = signals.filter((signal) => finds(signal, traces))
  const doubt = found.reduce((product, { weight }) => product * (1 - weight), 1)
  return { confidence: Math.round((1 - doubt) * 100) / 100, evidence: found.map(({ in: place, match }) => ({ in: place, match })) }
}

/** Where a version can stand. */
export type VersionPlace = 'header' | 'meta' | 'script' | 'link' | 'inline'

const WHERE: Record<VersionPlace, (traces: Traces) => string> = {
  header: ({ headers }) => [...headers.values()].join('\n'),
  meta: ({ metas }) => [...metas.values()].join('\n'),
  script: ({ scripts }) => scripts,
  link: ({ links }) => links,
  inline: ({ inline }) => inline,
}

/** The number that stands behind a text in a place; null where there is none. */
export function versionIn(traces: Traces, place: VersionPlace, after: string): string | null {
  const text = WHERE[place](traces)
  // All but the source of scripts is in lower case.
  const at = text.indexOf(place === 'inline' ? after : after.toLowerCase())
  if (at < 0) return null
  const number = /^[0-9][0-9.]{0,20}/.exec(text.slice(at + after.length, at + after.length + 24))?.[0]
  return number?.replace(/\.$/, '') ?? null
}
