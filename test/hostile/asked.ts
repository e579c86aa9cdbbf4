/**
 * The functions that read what merchants, visitors, projects and strangers' sites wrote: each with the names of what it asks in its file,
 * and how it is asked. Those that are not exported are asked through who calls them.
 */
import { withFrameScript } from '../../api/builder/feedback/frame.ts'
import { byRules } from '../../api/builder/feedback/instruction.ts'
import { customDomain } from '../../api/builder/domain/custom-domain.ts'
import { withOwnPaths } from '../../api/builder/own-files.ts'
import { pricedIn } from '../../api/builder/prices.ts'
import { hostNameOf } from '../../api/builder/shop/hosts.ts'
import { localPath } from '../../api/builder/shop/local-path.ts'
import { excerpts } from '../../api/catalog/excerpt.ts'
import { matchExpression, textOf, wordsIn } from '../../api/catalog/search/search-index.ts'
import { filled, oneLine, requireKnown, requireNeeded } from '../../api/content/mails/template.ts'
import { idIn } from '../../api/content/media/cdn.ts'
import { handleKey } from '../../api/content/media/handle.ts'
import { sourceOf } from '../../api/content/media/image-fields.ts'
import { compared, linksIn } from '../../api/content/visitors/submission.ts'
import { calendarOf } from '../../api/events/calendar.ts'
import { tokenIn } from '../../api/events/door/scans.ts'
import { repeated } from '../../api/events/repetition.ts'
import { inlineScripts } from '../../api/hosting/inline-scripts.ts'
import { formFor, prefersProblem } from '../../api/hosting/negotiate.ts'
import { decoded as decodedPath, hasDots, straight } from '../../api/hosting/paths.ts'
import { matches, stillMatches } from '../../api/http/etag.ts'
import { parser, parseQuery } from '../../api/http/input/check.ts'
import { storable } from '../../api/http/input/json.ts'
import { isStrict, Notes, unknownOf } from '../../api/http/input/notes.ts'
import { NearestPaths } from '../../api/http/routing/nearest-paths.ts'
import { Paths } from '../../api/http/routing/paths.ts'
import { Type } from '../../api/http/schema.ts'
import { loggable, oneSpelling, pathOf, searchOf, targetOf } from '../../api/http/url.ts'
import { codeOf } from '../../api/marketing/discounts/coupon-code.ts'
import { write } from '../../api/marketing/newsletters/letter.ts'
import { ownWordsFor } from '../../api/mcp/words.ts'
import { hostOf, publicPlaces } from '../../api/outside/public-places.ts'
import { printable } from '../../api/printing/font.ts'
import { line, texts } from '../../api/printing/marks.ts'
import { Clients } from '../../api/server/client-address.ts'
import { ownerOfToken } from '../../api/store/links/link-token.ts'
import { frame } from '../../api/store/mails/frame.ts'
import { COLORS } from '../../api/store/mails/looks.ts'
import { encodingFor, rangesOf } from '../../api/values/accept.ts'
import { isEmail, normalizeEmail } from '../../api/values/email.ts'
import { hostname } from '../../api/values/hostname.ts'
import { escapeHtml, unescapeHtml } from '../../api/values/html.ts'
import { contains, normal } from '../../api/values/compared.ts'
import { likeness, wordsOf } from '../../api/values/likeness.ts'
import { isLocale } from '../../api/values/locales.ts'
import { phrasesOf } from '../../api/values/phrases.ts'
import { isPublic } from '../../api/values/public-address.ts'
import { richTextHtml, richTextMarkdown } from '../../api/values/rich-text/render.ts'
import { requireRichText } from '../../api/values/rich-text/rich-text.ts'
import { fold, slugOf } from '../../api/values/slug.ts'
import { toldBy } from '../../site/analyses/page-meta.ts'
import { decoderOf } from '../../site/analyses/reading/charset.ts'
import { Markup } from '../../site/analyses/reading/markup.ts'
import { isHtml } from '../../site/analyses/reading/visit.ts'
import { addressIn, shortened } from '../../site/analyses/reading/words.ts'
import { isLlms, isRobots } from '../../site/analyses/scan/files.ts'
import { platformOf } from '../../site/analyses/scan/made-with.ts'
import { isPreloaded } from '../../site/analyses/scan/preloaded.ts'
import { parseRobots } from '../../site/analyses/scan/robots.ts'
import { gradeSecurity } from '../../site/analyses/scan/security/grade.ts'
import { cookies, subresourceIntegrity } from '../../site/analyses/scan/security/others.ts'
import { parsePolicies } from '../../site/analyses/scan/security/policy.ts'
import { tracesOf, versionIn } from '../../site/analyses/scan/signals.ts'
import { visibilityOf } from '../../site/analyses/scan/visibility.ts'
import { targetOf as scanTarget } from '../../site/analyses/target.ts'
import { isDocumentShaped } from '../../site/lib/addresses.ts'
import { Missing } from '../../site/lib/missing.ts'
import { Nearest } from '../../site/lib/nearest.ts'
import { escaped, quoted } from '../../site/lib/escaped.ts'
import { wanted, wordsIn as wordsAsked } from '../../site/search/made.ts'
import type { Marks } from './shapes.ts'

interface Asked {
  file: string
  /** What of the file is asked: its declarations that read text. */
  names: string
  ask: (text: string) => unknown
  marks?: Marks
}

const STORE = '019f0000-0000-7000-8000-000000000001'
const HERE = new URL('https://shop.example/a/b')
const NOW = '2027-01-01T00:00:00.000Z'
const doc = (...content: object[]) => ({ type: 'doc', content })
const words = (text: string, ...marks: object[]) => ({ type: 'text', text, marks })
const within = (node: object, depth: number, type: string): object =>
  depth
    ? {
        type,
        content: [type === 'bulletList' ? { type: 'listItem', content: [within(node, depth - 1, type)] } : within(node, depth - 1, type)],
      }
    : node

/** Documents that have a text where a document has text, or an address. */
const inWords = (text: string) => doc({ type: 'heading', content: [words(text, { type: 'link', attrs: { href: text } })] })
const inCode = (text: string) =>
  doc(
    { type: 'paragraph', content: [words(text, { type: 'code' })] },
    within({ type: 'codeBlock', attrs: { language: text }, content: [words(text)] }, 3, 'blockquote'),
  )
const inCells = (text: string) =>
  doc(
    { type: 'table', content: [{ type: 'tableRow', content: [{ type: text, content: [words(text, { type: 'code' })] }] }] },
    within({ type: 'image', attrs: { src: text, alt: text } }, 3, 'bulletList'),
  )
/** A document of many nodes: one for each word of the text. */
const many = (text: string) => doc(...text.split(/[ ,\n]/).map((word) => words(word)))

const SETTINGS = { name: 'Shop', locale: 'en-US', defaultLanguage: 'en', address: null } as never
const LOOKS = { logo: null, colors: COLORS, fonts: { heading: null, body: null }, updatedAt: null } as never
const letterOf = (content: string) =>
  write({
    content,
    cards: [{ name: content, image: content, price: content, before: content, url: content }],
    settings: SETTINGS,
    looks: LOOKS,
    home: content,
  })('https://shop.example/u')

/** How wide a text is on paper; marks above letters have no width. */
const wide = (text: string) => text.replaceAll('\u0301', '').length / 2

const clients = new Clients(['127.0.0.1', '10.0.0.0/8'])
const nearest = new NearestPaths(['/api/v1/products', '/api/v1/products/{id}', '/api/v1/orders/{id}/refunds'])
const pages = new Nearest(['/docs/a/webhooks', '/docs/b/search', '/help/a/orders'])
const missing = new Missing({ '/docs/a/webhooks': { title: 'Webhooks' } } as never, 'https://docs.example')
const paths = new Paths()
paths.add('/api/v1/products/:id', 'GET')
const checked = parser(
  Type.Object({ name: Type.String({ maxLength: 100 }), tags: Type.Optional(Type.Array(Type.String({ maxLength: 20 }), { maxItems: 20 })) }),
)
const query = { schema: Type.Object({ ids: Type.Optional(Type.Array(Type.String(), { maxItems: 5 })), q: Type.Optional(Type.Integer()) }) }
const places = publicPlaces({ allow: [], lookup: async () => [] })

/** A page that says a text where pages say something. */
const pageOf = (text: string) => {
  const markup = new Markup()
  markup.write(
    `<title>${text}</title><meta http-equiv="content-security-policy" content="${text}"><link rel="${text}" href="${text}">` +
      `<script type="application/ld+json">${text}</script><body><p itemtype="${text}">`,
  )
  return markup.end()
}
const headersOf = (text: string) =>
  ['content-security-policy', 'strict-transport-security', 'referrer-policy', 'x-frame-options'].map((name) => [name, text] as const)
const seenOf = (text: string) => ({
  url: HERE,
  headers: headersOf(text),
  cookies: [{ url: HERE.href, lines: text.split('\n').slice(0, 100) }],
  isHtml: true,
  metas: [
    new Map([
      ['http-equiv', 'content-security-policy'],
      ['name', 'referrer'],
      ['content', text],
    ]),
  ],
  scripts: [{ src: text, attributes: new Map([['integrity', text]]), text }],
  base: text,
  httpRoute: ['http://shop.example/', HERE.href],
  cors: { origin: 'https://a.example', headers: headersOf(text) },
  isPreloaded,
})
const readOf = (text: string) =>
  ({ headers: [['content-type', 'text/plain']], bytes: Buffer.from(text), status: 200, isWhole: true }) as never

const HTML: Marks = {
  pairs: [
    ['<script', '</script>'],
    ['<s>', '</s>'],
    ['<!--', '-->'],
    ['<meta name="', '">'],
    ['<title>', '</title>'],
    ['{{', '}}'],
    ['{%', '%}'],
  ],
  marks: ['<', '<span class="price" data-prices="', '</head>', 'http://a/', 'https://'],
  items: ['<span class="price" data-prices="{&quot;usd&quot;:&quot;1&quot;}">1</span>', '<p class="a">b</p>'],
}
const MARKDOWN: Marks = {
  pairs: [
    ['{{', '}}'],
    ['**', '**'],
    ['[a](', ')'],
    ['![', ']'],
    ['<', '>'],
    ['`', '`'],
  ],
  marks: [
    '**',
    '__',
    '[[',
    '](',
    '![',
    '* ',
    '> ',
    '- ',
    '1. ',
    '# ',
    '```\n',
    '|',
    '~~',
    '\\',
    'http://a/',
    'www.',
    '&#',
    '<!--',
    '[a]: ',
    '{{a|',
  ],
  items: ['{{customerName}}', '[a](https://a.example)', '**a**', '*a **b* c**', '| a | b |\n|--|--|', 'a_b_c'],
}
const LINKS: Marks = {
  marks: ['http://', 'https://', 'http://a/', 'www.', '.com', 'a.', 'www', '//'],
  items: ['https://a.example/b', 'a.com', 'www.b.org'],
}
const HEADER: Marks = {
  pairs: [['"', '"']],
  marks: [';q=', ';q=0.', ',', '/', '*', '\\"', 'W/"', '%'],
  items: ['text/html;q=0.9', '"a\\"b"', '10.0.0.1', 'gzip'],
}
const PATH: Marks = { marks: ['/', '//', '/..', '/.', '%', '%2f', '%e0', '?', '#', '&', '=', '+'], items: ['/products/a', '%20', 'a=b&'] }
const JSONS: Marks = {
  pairs: [
    ['{"a":', '}'],
    ['[', ']'],
    ['"', '"'],
  ],
  marks: ['\\u0000', '\\ud800', '\\', '{"a":1,', '"name":'],
  items: ['{"name":"a"}', '"a\\u00e9"', '[1]'],
}
/** Marks of different classes, which a normal form puts in order: behind one letter, by turns and one kind behind the other. */
const COMBINING: Marks = {
  marks: ['\u0301\u0316', '\u0316\u0301', '\uff9e\u0316', '\u0344\u0323', 'a\u0301', '\u034f\u0301'],
  pairs: [['\u0301', '\u0316']],
}
const ROBOTS: Marks = {
  marks: ['User-agent: a\n', 'Disallow: /\n', 'Disallow: *a\n', '*', '*a', '$', '%', '#', ':', 'Sitemap: a\n', '\r'],
  items: ['User-agent: *\nDisallow: /a*b$', 'Content-Signal: search=yes', 'Allow: /%41'],
}
const POLICY: Marks = {
  marks: [';', 'script-src ', 'a.com/', "'self'", '%61', 'default-src a'],
  items: ["script-src 'self' a.com/b", 'img-src https:'],
}

export const ASKED: readonly Asked[] = [
  // What all rooms read with.
  { file: 'api/values/html.ts', names: 'escapeHtml unescapeHtml', ask: (text) => unescapeHtml(escapeHtml(text)), marks: HTML },
  { file: 'api/values/compared.ts', names: 'contains', ask: contains, marks: { marks: ['%', '_', '\\'] } },
  {
    file: 'api/values/likeness.ts',
    names: 'distance wordsOf',
    ask: (text) => [wordsOf(text), likeness(text, 'products'), likeness('products', text)],
  },
  {
    file: 'api/values/compared.ts',
    names: 'normal',
    ask: (text) => [normal(text), normal(text, 'NFD'), normal(text, 'NFKC')],
    marks: COMBINING,
  },
  { file: 'api/values/phrases.ts', names: 'phrasesOf', ask: phrasesOf, marks: COMBINING },
  { file: 'api/values/slug.ts', names: 'slugOf fold', ask: (text) => [slugOf(text), fold(text)], marks: COMBINING },
  { file: 'api/values/email.ts', names: 'isEmail normalizeEmail', ask: (text) => [isEmail(text), normalizeEmail(text)], marks: COMBINING },
  { file: 'api/values/hostname.ts', names: 'hostname', ask: hostname, marks: { marks: ['xn--', '.', '。', 'ü', '-'] } },
  { file: 'api/values/locales.ts', names: 'isLocale', ask: isLocale },
  { file: 'api/values/public-address.ts', names: 'isPublic', ask: isPublic, marks: { marks: [':', '::', '1.', '0:', '%'] } },
  {
    file: 'api/values/accept.ts',
    names: 'piecesOf',
    ask: (text) => [rangesOf(text), encodingFor(text, new Set(['gzip', 'br']))],
    marks: HEADER,
  },
  {
    file: 'api/values/rich-text/render.ts',
    names: 'camel addressOf plainOf escaped target label fenceOf oneLine linesIn indented',
    ask: (text) => [richTextHtml(inWords(text)), richTextMarkdown(inWords(text))],
    marks: { ...MARKDOWN, marks: [...MARKDOWN.marks!, 'javascript:', '_a', '``'] },
  },
  {
    file: 'api/values/rich-text/render.ts',
    names: '',
    ask: (text) => [richTextHtml(inCode(text)), richTextMarkdown(inCode(text))],
    marks: MARKDOWN,
  },
  { file: 'api/values/rich-text/render.ts', names: '', ask: (text) => richTextMarkdown(inCells(text)), marks: MARKDOWN },
  { file: 'api/values/rich-text/render.ts', names: '', ask: (text) => richTextMarkdown(many(text)) },
  { file: 'api/values/rich-text/rich-text.ts', names: 'unsafeAttribute', ask: (text) => requireRichText({ a: inWords(text) }, 'a') },
  // Requests.
  { file: 'api/server/client-address.ts', names: 'plain Clients', ask: (text) => clients.nameOf('127.0.0.1', text), marks: HEADER },
  {
    file: 'api/http/url.ts',
    names: 'targetOf pathOf oneSpelling searchOf loggable',
    ask: (text) => [targetOf(text), pathOf(`http://a/${text}`), searchOf(text), loggable(text, 'unknown'), oneSpelling(text)],
    marks: PATH,
  },
  {
    file: 'api/http/etag.ts',
    names: 'matches stillMatches',
    ask: (text) => [matches(text, '"a"'), stillMatches(text, '"a"')],
    marks: HEADER,
  },
  { file: 'api/http/input/json.ts', names: 'tooMuchIn hasBrokenEscape', ask: storable, marks: JSONS },
  {
    file: 'api/http/input/check.ts',
    names: 'detail fromText',
    ask: (text) => [
      parseQuery(text, { schema: query.schema, check: parser(query.schema) }, new Notes()),
      parseQuery(`ids=${text}&q=${text}`, { schema: query.schema, check: parser(query.schema) }, new Notes()),
    ],
    marks: PATH,
  },
  {
    file: 'api/http/input/check.ts',
    names: 'detail',
    ask: (text) => checked.parse({ name: text, tags: text.split(/[ ,\n]/), [text]: text }, new Notes(true)),
  },
  {
    file: 'api/http/input/notes.ts',
    names: 'plain isStrict',
    ask: (text) => [isStrict(text), unknownOf(text, ['name', 'description'])],
    marks: HEADER,
  },
  {
    file: 'api/http/input/notes.ts',
    names: 'plain',
    ask(text) {
      const notes = new Notes()
      for (const name of text.split(/[ ,]/)) {
        notes.field(null, name, ['name'])
        notes.parameter(name, ['name'])
      }
      return notes.ignored
    },
  },
  { file: 'api/http/routing/nearest-paths.ts', names: 'partsOf', ask: (text) => nearest.to(text), marks: PATH },
  { file: 'api/http/routing/paths.ts', names: 'Paths', ask: (text) => paths.methodsOf(`/api/v1/products/${text}`), marks: PATH },
  { file: 'api/mcp/words.ts', names: 'stemOf', ask: ownWordsFor },
  { file: 'api/store/links/link-token.ts', names: 'ownerOfToken', ask: ownerOfToken },
  // What merchants write.
  {
    file: 'api/catalog/excerpt.ts',
    names: 'plain excerpts',
    ask: (text) => excerpts([text.slice(0, 20), 'a'])({ name: text, body: text }),
    marks: COMBINING,
  },
  {
    file: 'api/catalog/search/search-index.ts',
    names: 'wordsIn matchExpression',
    ask: (text) => [wordsIn(text), matchExpression(text), textOf(inCode(text))],
    marks: COMBINING,
  },
  { file: 'api/marketing/discounts/coupon-code.ts', names: 'codeOf', ask: codeOf, marks: COMBINING },
  { file: 'api/marketing/newsletters/letter.ts', names: 'marked paragraphs write', ask: letterOf, marks: LINKS },
  {
    file: 'api/content/mails/template.ts',
    names: 'namesIn marked htmlBody textBody readable filled',
    ask: (text) => filled({ subject: text, body: text }, { customerName: 'a', orderNumber: text }),
    marks: MARKDOWN,
  },
  {
    file: 'api/content/mails/template.ts',
    names: 'requireKnown requireNeeded oneLine',
    ask(text) {
      oneLine(text)
      requireNeeded('ticket', text)
      requireKnown('ticket', 'body', text)
    },
    marks: MARKDOWN,
  },
  {
    file: 'api/store/mails/frame.ts',
    names: 'dressed',
    ask: (text) => frame(LOOKS, SETTINGS, { language: 'en', body: text, home: text }),
    marks: { ...HTML, marks: ['<a ', '<a class="button" ', '<img ', '<h'] },
  },
  {
    file: 'api/content/media/cdn.ts',
    names: 'idIn',
    ask: (text) => idIn({ storeId: STORE, environment: 'live' }, text),
    marks: { ...PATH, marks: ['http://a/', '/cdn/'] },
  },
  { file: 'api/content/media/handle.ts', names: 'shownHandle handleKey', ask: handleKey, marks: COMBINING },
  { file: 'api/content/media/image-fields.ts', names: 'sourceOf', ask: sourceOf },
  {
    file: 'api/events/calendar.ts',
    names: 'plain',
    ask: (text) =>
      calendarOf(
        { id: STORE, name: text, summary: null, location: null, startsAt: NOW, createdAt: NOW, updatedAt: NOW } as never,
        'a.example',
      ),
  },
  {
    file: 'api/events/repetition.ts',
    names: 'partsOf',
    ask: (text) => void repeated({ startsAt: NOW, endsAt: NOW, timezone: 'UTC', startsOn: '2027-01-01' }, text).catch(() => {}),
    marks: { marks: ['FREQ=DAILY;', 'BYDAY=MO,', 'MO,', ';'], items: ['FREQ=DAILY', 'FREQ=DAILY;COUNT=2;'] },
  },
  { file: 'api/printing/font.ts', names: 'printable', ask: printable, marks: COMBINING },
  {
    file: 'api/printing/marks.ts',
    names: 'wrapped',
    ask: (text) => [
      texts(text.split('\n'), { x: 0, y: 0, width: 50, height: 20, largest: 4, smallest: 3.8 }, wide),
      line(text, { x: 0, y: 0, width: 50, size: 4 }, wide),
    ],
    marks: COMBINING,
  },
  // Shops, and the projects that they are made of.
  {
    file: 'api/builder/own-files.ts',
    names: 'withOwnPaths',
    ask: (text) => withOwnPaths(text, STORE),
    marks: { ...LINKS, marks: [...LINKS.marks!, `/cdn/${STORE}/live/`, `http://a/cdn/${STORE}`] },
  },
  {
    file: 'api/builder/prices.ts',
    names: 'Next priceIn withoutBefore pricedIn',
    ask: (text) => pricedIn(text, 'eur'),
    marks: HTML,
  },
  { file: 'api/builder/feedback/frame.ts', names: 'withFrameScript', ask: (text) => withFrameScript(text, text), marks: HTML },
  {
    file: 'api/builder/feedback/instruction.ts',
    names: 'sentence',
    ask: (content) => void byRules.instruct({ content, pagePath: content, pin: null }),
    marks: { marks: ['. ', '! ', '… ', '.!', ' .'] },
  },
  {
    file: 'api/builder/domain/custom-domain.ts',
    names: 'customDomain',
    ask: (text) => customDomain(text, { parent: 'stoa.example', others: [] }),
    marks: { marks: ['xn--', '。', '..'] },
  },
  {
    file: 'api/builder/shop/hosts.ts',
    names: 'hostNameOf',
    ask: (text) => hostNameOf({ url: `http://${text}/` } as Request),
    marks: { marks: [':', ':1', '.', '//'] },
  },
  { file: 'api/builder/shop/local-path.ts', names: '', ask: localPath, marks: PATH },
  {
    file: 'api/hosting/inline-scripts.ts',
    names: 'hashOf inlineScripts behindDeclaration endOfText behindName readTag readValue',
    ask: inlineScripts,
    marks: HTML,
  },
  { file: 'api/hosting/negotiate.ts', names: 'wish', ask: (text) => [formFor(text), prefersProblem(text)], marks: HEADER },
  {
    file: 'api/hosting/paths.ts',
    names: 'straight hasDots',
    ask: (text) => [straight(`/${text}`), decodedPath(`/${text}`), hasDots(text)],
    marks: PATH,
  },
  // What visitors write.
  {
    file: 'api/content/visitors/submission.ts',
    names: 'linksIn compared',
    ask: (text) => [linksIn(text), compared(text)],
    marks: { ...LINKS, marks: [...LINKS.marks!, ...COMBINING.marks!] },
  },
  { file: 'api/events/door/scans.ts', names: '', ask: tokenIn, marks: { marks: ['/tickets/attendee/'] } },
  // What strangers' sites say.
  {
    file: 'api/outside/public-places.ts',
    names: 'hostOf',
    ask: (text) => [hostOf({ hostname: text } as URL), places.refusal(new URL(`https://${text}/`))],
    marks: { marks: ['.', '[', 'a.'] },
  },
  { file: 'site/analyses/target.ts', names: '', ask: (text) => scanTarget(`url=${encodeURIComponent(text)}`, places, []), marks: LINKS },
  {
    file: 'site/analyses/reading/charset.ts',
    names: '',
    ask: (text) => decoderOf(Buffer.from(text), text),
    marks: { marks: ['<meta ', 'charset=', 'charset ', '<meta charset='] },
  },
  {
    file: 'site/analyses/reading/words.ts',
    names: 'shortened',
    ask: (text) => [shortened(text, 1_024), addressIn(text, HERE)],
    marks: LINKS,
  },
  { file: 'site/analyses/reading/visit.ts', names: 'isHtml', ask: isHtml, marks: HEADER },
  {
    file: 'site/analyses/page-meta.ts',
    names: 'isRel',
    ask: (text) => [toldBy(pageOf(text), HERE), toldBy(new Markup().end(), HERE)],
    marks: HTML,
  },
  {
    file: 'site/analyses/reading/markup.ts',
    names: 'Markup',
    ask(text) {
      const markup = new Markup()
      for (let at = 0; at < text.length; at += 20_000) markup.write(text.slice(at, at + 20_000))
      return [markup.end().hasTagWith('aa'), toldBy(markup, HERE)]
    },
    marks: {
      ...HTML,
      marks: [
        ...HTML.marks!,
        '<a a=',
        '<a ',
        '<template>',
        '<svg>',
        '<script src=a>',
        '<title>&amp;',
        '<meta name=og:title content=a>',
        '<link rel=icon href=a>',
      ],
    },
  },
  { file: 'site/analyses/scan/files.ts', names: 'isRobots', ask: (text) => [isRobots(readOf(text)), isLlms(readOf(text))], marks: ROBOTS },
  {
    file: 'site/analyses/scan/robots.ts',
    names: 'escaped spelled matches ruleOf groupsOf parseRobots',
    ask(text) {
      const robots = parseRobots(text)
      for (const agent of ['GPTBot', 'ClaudeBot', '*', 'a']) robots.verdict(agent, `/${text.slice(0, 2_000)}`)
    },
    marks: ROBOTS,
  },
  { file: 'site/analyses/scan/preloaded.ts', names: 'isPreloaded', ask: isPreloaded, marks: { marks: ['.', 'a.'] } },
  {
    file: 'site/analyses/scan/signals.ts',
    names: 'tracesOf versionIn',
    ask(text) {
      const traces = tracesOf(pageOf(text), { url: HERE, headers: headersOf(text), cookies: text.split('\n') })
      return [platformOf(traces), versionIn(traces, 'inline', 'a')]
    },
    marks: HTML,
  },
  {
    file: 'site/analyses/scan/visibility.ts',
    names: 'signalsOf lastOf typesIn',
    ask: (text) =>
      visibilityOf({
        ...{ robots: parseRobots(`User-agent: *\nContent-Signal: ${text}`), path: '/', markup: pageOf(text), metaRobots: [text] },
        ...{ robotsTxt: { found: true, status: 200, bytes: 1 }, llmsTxt: { found: true, status: 200, bytes: 1 } },
        ...{ sitemap: { found: false, status: null, url: null }, markdownNegotiation: { supported: null, contentType: null } },
      }),
    marks: { ...JSONS, marks: [...JSONS.marks!, '{"@type":"a","b":'] },
  },
  {
    file: 'site/analyses/scan/security/policy.ts',
    names: 'sourceOf parseOne',
    ask: (text) => parsePolicies([text, text.replaceAll('a', 'b'), text], 'both'),
    marks: POLICY,
  },
  {
    file: 'site/analyses/scan/security/headers.ts',
    names: 'strictTransportSecurity referrerPolicy oneOf',
    ask: (text) => gradeSecurity(seenOf(text)),
    marks: POLICY,
  },
  {
    file: 'site/analyses/scan/security/others.ts',
    names: 'hasUnknownSameSite cookies subresourceIntegrity',
    ask: (text) => [cookies(seenOf(text)), subresourceIntegrity(seenOf(text))],
    marks: HEADER,
  },
  // What readers of the content site ask for.
  { file: 'site/lib/addresses.ts', names: 'isDocumentShaped', ask: isDocumentShaped, marks: PATH },
  { file: 'site/lib/nearest.ts', names: 'Nearest', ask: (text) => pages.to(text), marks: PATH },
  { file: 'site/lib/missing.ts', names: 'Missing', ask: (text) => [missing.problem(text), missing.suggestions(text)], marks: PATH },
  { file: 'site/lib/escaped.ts', names: 'escaped quoted', ask: (text) => [escaped(text), quoted(text)], marks: HTML },
  { file: 'site/search/made.ts', names: 'wanted', ask: (text) => [wanted(text), wanted(`q=${text}`), wordsAsked(text)], marks: PATH },
]
