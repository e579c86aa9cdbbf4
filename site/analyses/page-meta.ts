/** `GET /api/fetch-page-meta`: what the head of a page says about it, as link previews show it. */
import { headerOf } from '../../api/outside/exchange.ts'
import { notNow } from '../../api/outside/not-fetched.ts'
import { decoderOf, SNIFFED_BYTES } from './reading/charset.ts'
import { Markup, type Attributes } from './reading/markup.ts'
import { isHtml, visit, type Visited, type Visitor } from './reading/visit.ts'
import { addressIn, shortened } from './reading/words.ts'

/** Of HTML that is read, unpacked, in bytes. */
export const HTML_MAX_BYTES = 2 * 1_048_576
/** Texts are read in pieces of about this size: each is looked at once. */
const PIECE_BYTES = 65_536
const SHORT_MAX = 512
const LONG_MAX = 1_024

interface PageMeta {
  url: string
  finalUrl: string
  status: number
  contentType: string | null
  title: string | null
  description: string | null
  image: string | null
  imageAlt: string | null
  imageWidth: number | null
  imageHeight: number | null
  siteName: string | null
  type: string | null
  locale: string | null
  canonical: string | null
  favicon: string | null
  themeColor: string | null
  twitterCard: string | null
  /** ISO 8601. */
  fetchedAt: string
}

/** The head of a page, read no further than its end. Throws `NotFetched`. */
async function headOf({ answer, headers }: Visited, reads: () => void): Promise<Markup> {
  const markup = new Markup(true)
  let decoder: TextDecoder | undefined
  let kept: Buffer[] = []
  let [waiting, size] = [0, 0]
  const flush = (isLast: boolean) => {
    reads()
    const bytes = Buffer.concat(kept)
    decoder ??= decoderOf(bytes, headerOf({ headers }, 'content-type'))
    markup.write(decoder.decode(bytes, { stream: !isLast }))
    ;[kept, waiting] = [[], 0]
  }
  for await (const piece of answer.pieces()) {
    const left = HTML_MAX_BYTES - size
    kept.push(piece.length > left ? piece.subarray(0, left) : piece)
    size += piece.length
    waiting += piece.length
    // A head is most often in the first piece: what comes behind it is not waited for.
    const isEnough = waiting >= (size > PIECE_BYTES ? PIECE_BYTES : SNIFFED_BYTES)
    if (isEnough || /<body|<\/head/i.test(piece.toString('latin1'))) flush(false)
    if (markup.isHeadOver || size >= HTML_MAX_BYTES) break
  }
  flush(true)
  return markup.end()
}

/** The contents of the metas with one of these names, in the order of the names. */
function metas(all: readonly Attributes[], ...names: string[]): string[] {
  return names.flatMap((name) =>
    all
      .filter((meta) => [meta.get('property'), meta.get('name')].some((own) => own?.trim().toLowerCase() === name))
      .map((meta) => meta.get('content') ?? '')
      .filter((content) => content.trim()),
  )
}

const isRel = (link: Attributes, rel: string) => (link.get('rel') ?? '').toLowerCase().split(/\s+/).includes(rel)

function wholeNumber(text: string | undefined): number | null {
  const number = /^\d{1,5}(?=(px)?$)/.exec((text ?? '').slice(0, 100).trim())?.[0]
  return number === undefined ? null : Number(number)
}

type Told = Omit<PageMeta, 'url' | 'finalUrl' | 'status' | 'contentType' | 'fetchedAt'>

/** What a head says, `finalUrl` being where it was read. */
export function toldBy(markup: Markup, finalUrl: URL): Told {
  const base = new URL(addressIn(markup.base, finalUrl) ?? finalUrl)
  const all = (...names: string[]) => metas(markup.metas, ...names)
  const links = (rel: string) => markup.links.filter((link) => isRel(link, rel)).map((link) => link.get('href') ?? '')
  const text = (...names: string[]) => shortened(all(...names)[0], SHORT_MAX)
  const address = (candidates: string[]) =>
    candidates.map((candidate) => addressIn(candidate, base)).find((found) => found !== null) ?? null
  return {
    title: shortened(
      [...all('og:title', 'twitter:title'), markup.title ?? ''].find((title) => title.trim()),
      SHORT_MAX,
    ),
    description: shortened(all('og:description', 'twitter:description', 'description')[0], LONG_MAX),
    image: address([
      ...all('og:image:secure_url', 'og:image', 'og:image:url', 'twitter:image', 'twitter:image:src'),
      ...links('image_src'),
    ]),
    imageAlt: text('og:image:alt', 'twitter:image:alt'),
    imageWidth: wholeNumber(all('og:image:width')[0]),
    imageHeight: wholeNumber(all('og:image:height')[0]),
    siteName: text('og:site_name'),
    type: text('og:type'),
    locale: text('og:locale'),
    canonical: address(links('canonical')),
    favicon: address([...links('icon'), ...links('apple-touch-icon')]),
    themeColor: text('theme-color'),
    twitterCard: text('twitter:card'),
  }
}

/** Throws where a page answers with an error of its own. */
function requireAnswer({ status, answer }: Visited): void {
  if (status >= 200 && status < 400) return
  answer.end()
  throw notNow('status', `it answers ${status}`)
}

/** Reads what a page says about itself. Throws `NotFetched`. */
export async function pageMeta(visitor: Visitor, url: URL): Promise<PageMeta> {
  const visited = await visit(visitor, url, { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.1' })
  requireAnswer(visited)
  const contentType = headerOf(visited, 'content-type')
  const markup = isHtml(contentType) ? await headOf(visited, visitor.reads) : new Markup(true)
  visited.answer.end()
  const { status, url: finalUrl } = visited
  const fetchedAt = new Date().toISOString()
  return {
    url: url.href,
    finalUrl: finalUrl.href,
    status,
    contentType: shortened(contentType, SHORT_MAX),
    ...toldBy(markup, finalUrl),
    fetchedAt,
  }
}
