/**
 * Texts that nobody means well with, through all entrances of a store at once, beside buyers: what everybody else feels of it, by how long
 * the server takes to say that it is there.
 */
import { percentile, requestOf, run, type Measured, type Operation } from './load.ts'
import { startStoa } from './servers.ts'
import type { Seeded } from './seed.ts'

/** So many keep the server busy all the time: with more, each waits for the others, and so does whoever asks beside them. */
const ATTACKERS = 4
const BUYERS = 8
const ALONE_MS = 2_000
const STORM_MS = 5_000
const HELD_MS = 250

/** What hostile texts are made of. */
const UNITS = [
  ...[
    '<script',
    '<s>',
    '<span class="price" data-prices="',
    '<!--',
    '{{',
    '{{a|',
    '[[',
    '](',
    '![',
    '**',
    '**a ',
    '_a',
    '`',
    '```\n',
    '> ',
    '- ',
  ],
  ...[
    'http://a/',
    'www.',
    'a.',
    '-',
    '.',
    '/',
    '//',
    '%',
    '\\',
    '"',
    "'",
    '&',
    '&amp',
    '&#',
    '<',
    '>',
    ' ',
    '\n',
    '\r\n',
    '\t ',
    'a',
    '1',
    '0',
  ],
  ...['a1 ', 'a,', 'a;', '😀', 'é', '\u0301\u0316', '\u0316\u0301', '\uff9e\u0316', '中 ', '\u2028'],
]
const textOf = (n: number, length: number) => {
  const unit = UNITS[n % UNITS.length]!
  return `a${unit.repeat(Math.floor((length - 2) / unit.length))}b`
}
/** A document as long as one may be, in the characters that its JSON takes. */
function documentOf(n: number, bytes: number): object {
  const unit = UNITS[n % UNITS.length]!
  const text = unit.repeat(Math.floor(bytes / Buffer.byteLength(JSON.stringify(unit))))
  return { type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text }] }] }
}
const escaped = (n: number, length: number) =>
  encodeURIComponent(
    textOf(n, length)
      .slice(0, length / 9)
      .toWellFormed(),
  )

interface Hostile {
  method: string
  path: string
  headers: Record<string, string>
  body?: string
}

/** The requests of those who mean ill: the nth of each kind. */
function hostileRequests({ keys, productIds }: Pick<Seeded, 'keys' | 'productIds'>): ((n: number) => Hostile)[] {
  const admin = { authorization: `Bearer ${keys.admin}` }
  const buyer = { authorization: `Bearer ${keys.storefront}` }
  const send = (method: string, path: string, body: unknown, headers: Record<string, string> = admin) => ({
    ...{ method, path, body: JSON.stringify(body) },
    headers: { ...headers, 'content-type': 'application/json' },
  })
  const write = (method: string, path: string, body: unknown, headers = admin) => send(method, `/api/v1${path}`, body, headers)
  const get = (path: string, headers: Record<string, string> = {}) => ({
    method: 'GET',
    path: `/api/v1${path}`,
    headers: { ...buyer, ...headers },
  })
  const product = (n: number) => productIds[n % productIds.length]!
  const tool = (name: string, given: object) =>
    send(
      'POST',
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } },
      {
        ...admin,
        accept: 'application/json, text/event-stream',
      },
    )
  return [
    (n) => write('PATCH', `/products/${product(n)}`, { description: documentOf(n, 180_000), name: textOf(n, 150) }),
    (n) => write('POST', '/categories', { name: textOf(n, 150), description: documentOf(n, 100_000) }),
    (n) => write('POST', '/posts', { title: textOf(n, 150), content: documentOf(n, 180_000) }),
    (n) => write('PUT', '/email-templates/shipment', { subject: textOf(n, 200), body: textOf(n, 19_000) }),
    (n) => write('POST', '/email-templates/shipment/preview', { subject: textOf(n, 200), body: textOf(n, 19_000) }),
    (n) => write('POST', '/contact-messages', { email: 'a@a.example', message: textOf(n, 9_900) }, buyer),
    (n) => write('POST', '/contact-messages', { email: `${textOf(n, 60)}@a.example`, name: textOf(n, 190), message: `${n}` }, buyer),
    (n) =>
      write('POST', `/products/${product(n)}/reviews`, { author: 'a', email: 'a@a.example', rating: 5, content: textOf(n, 4_900) }, buyer),
    (n) => write('POST', '/coupons', { code: textOf(n, 60), kind: 'percent', value: 10 }),
    (n) => write('POST', '/carts', { [textOf(n, 20_000)]: textOf(n, 20_000), items: textOf(n, 1_000).split('') }, buyer),
    (n) => get(`/search?q=${escaped(n, 1_800)}`),
    (n) => get(`/products?search=${escaped(n, 1_800)}`),
    (n) => get(`/${escaped(n, 1_900)}`),
    (n) => get(`/products/${escaped(n, 900)}?${escaped(n, 900)}`),
    (n) =>
      get('/products', { accept: ';q=,"'.repeat(800), 'accept-encoding': 'gzip,'.repeat(800), 'if-none-match': `W/"${n}",`.repeat(400) }),
    (n) =>
      get('/products', { prefer: 'handling="'.repeat(400), 'x-forwarded-for': `${n}%,[`.repeat(500), cookie: 'currency=a; '.repeat(400) }),
    (n) => tool('find_operations', { text: textOf(n, 20_000), query: textOf(n, 20_000) }),
    (n) => tool(textOf(n, 20_000), { a: '['.repeat(20_000) }),
  ]
}

/** Sends them for a time, each made before; how many of each status were answered. */
async function attack(port: number, requests: readonly Hostile[], ms: number): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {}
  const until = performance.now() + ms
  let n = 0
  const one = async () => {
    while (performance.now() < until) {
      const { path, ...request } = requests[n++ % requests.length]!
      const response = await fetch(`http://127.0.0.1:${port}${path}`, request)
      await response.arrayBuffer()
      statuses[response.status] = (statuses[response.status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: ATTACKERS }, one))
  return statuses
}

export interface TextStorm {
  /** The answers to hostile requests, by their status. */
  statuses: Record<number, number>
  purchases: number
  /** p99 of `/healthz` beside buyers, without the texts and with them, and its worst with them, in ms. */
  aloneP99Ms: number
  besideP99Ms: number
  worstMs: number
  /** The share of the time in which it took longer than a quarter of a second: few asks stand for much of it. */
  heldShare: number
}

/** Asks whether the server is there, without pause, beside buyers. */
function feltOf(port: number, { keys, variantIds }: Seeded, ms: number): Promise<[health: Measured, sold: Measured]> {
  const buyer = { authorization: `Bearer ${keys.storefront}` }
  const buying = (n: number): Operation => ({
    first: requestOf('POST', '/api/v1/carts', buyer, {
      items: [{ variantId: variantIds[n % variantIds.length] }],
      email: 'ada@example.com',
    }),
    expect: [201, 200],
    then: (body) => requestOf('GET', `/api/v1/carts/${JSON.parse(body).id}`, buyer),
  })
  const healthy: Operation = { first: requestOf('GET', '/healthz', {}), expect: [200] }
  return Promise.all([
    run({ port, maxMs: ms, connections: 1, next: () => healthy }),
    run({ port, maxMs: ms, connections: BUYERS, next: buying }),
  ])
}

/** A server of its own over the data, which is asked by buyers alone, and then by all. */
export async function stormTexts(dataDir: string, seeded: Seeded, ms = STORM_MS): Promise<TextStorm> {
  const stoa = await startStoa(dataDir)
  // Made before: whoever makes them meanwhile holds whoever asks how the server is.
  const kinds = hostileRequests(seeded)
  const requests = UNITS.flatMap((_, n) => kinds.map((kind) => kind(n)))
  try {
    await feltOf(stoa.port, seeded, ALONE_MS / 2)
    await attack(stoa.port, requests, ALONE_MS / 2)
    const [alone] = await feltOf(stoa.port, seeded, ALONE_MS)
    const [[beside, sold], statuses] = await Promise.all([feltOf(stoa.port, seeded, ms), attack(stoa.port, requests, ms)])
    return {
      statuses,
      purchases: sold.operations,
      aloneP99Ms: percentile(alone, 0.99),
      besideP99Ms: percentile(beside, 0.99),
      worstMs: percentile(beside, 1),
      heldShare: beside.latencies.reduce((sum, ms) => sum + (ms > HELD_MS ? ms : 0), 0) / (1_000 * beside.seconds),
    }
  } finally {
    await stoa.stop()
  }
}
