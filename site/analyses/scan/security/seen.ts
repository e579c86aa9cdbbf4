/** What the security checks look at: how a page was answered, and how its `http://` twin was. */
import type { Attributes, ScriptElement } from '../../reading/markup.ts'

export interface Seen {
  /** Where the page was read in the end. */
  url: URL
  headers: readonly (readonly [name: string, value: string])[]
  /** `Set-Cookie` of the redirects before the page, and of the page: an entry for each answer. */
  cookies: readonly { url: string; lines: readonly string[] }[]
  isHtml: boolean
  metas: readonly Attributes[]
  scripts: readonly ScriptElement[]
  /** `<base href>` */
  base: string | null
  /** The addresses that `http://` leads through, the first one included; null when nothing answers there. */
  httpRoute: readonly string[] | null
  /** The origin that a request named, and the headers of its answer; null when there was none. */
  cors: { origin: string; headers: Seen['headers'] } | null
  /** Whether browsers know that a host is to be asked over https alone. */
  isPreloaded: (host: string) => boolean
}

/** The value of a header; of one that was sent several times, all of them as one list (RFC 9110, 5.3). Null without it. */
export function valueOf({ headers }: Pick<Seen, 'headers'>, name: string): string | null {
  const values = headers.filter(([own]) => own.toLowerCase() === name).map(([, value]) => value)
  return values.length ? values.join(', ') : null
}

/** Values of `<meta http-equiv>`. */
export const equivalents = (metas: readonly Attributes[], name: string): string[] =>
  metas.filter((meta) => meta.get('http-equiv')?.trim().toLowerCase() === name).flatMap((meta) => meta.get('content') || [])

/** What a check found: the key of one of its outcomes, and what it looked at. */
export interface Found<Outcome extends string = string> {
  outcome: Outcome
  value: string | null
}
