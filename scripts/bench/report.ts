/** What the bench says: the bars that its figures must meet, the table for people, and the document for programs. */
import type { Mailed } from './newsletter.ts'
import type { Paged } from './paging.ts'
import type { Large } from './large.ts'
import type { PriceLarge } from './price-large.ts'
import { median, type RowResult } from './rounds.ts'
import { ROW_NAMES, type RowName } from './rows.ts'
import type { Visitors } from './visitors.ts'
import type { Storm } from './storm.ts'
import type { TextStorm } from './texts.ts'
import type { Told } from './webhooks.ts'
import type { Together } from './workers.ts'

/** Ratios to the floor, the least that each row may have; remembering is off. */
const RATIOS = {
  'list-products': 0.65,
  'get-product': 0.7,
  'get-order': 0.7,
  'add-to-cart': 0.5,
  'checkout-1': 0.3,
  'checkout-32': 1.5,
  'ticket-checkout-32': 0.6,
  checkin: 0.6,
} as const
/** Of answers that are remembered: beside writes to other stores, and with one a second to the same. */
const LIST_HOT_RATIO = 5
const PRODUCT_HOT_RATIO = 1.5
const LIST_WRITTEN_RATIO = 3
const GROUPED_TIMES = 2
const UNCHANGED_TIMES = 3
const BESIDE_TIMES = 5
const MEMORY_MB = 180
const MEMORY_STORES_MB = 700
const START_MS = 300
const MAIL_MEMORY_MB = 250
const DELIVERIES_PER_S = 500
/** Megabytes more than at rest, while 10,000 events go out. */
const DELIVERIES_MB = 100
const BESIDE_WEBHOOKS_TIMES = 1.5
const PAGE_TIMES = 2
const MODERATION_TIMES = 3
const ROSTER_MS = 300
/** The longest that anybody waits while others search and list a large store. */
const HEALTH_MS = 20
/** What everybody feels, at the 99th percentile, of texts that nobody means well with. */
const TEXTS_MS = 20
const PRICE_MS = 20
/** Of two processes to one: they sell no less, and answer more. */
const TOGETHER = { purchases: 1, reads: 1.1 }
/** Orders that one workstation may have more than another. */
const SPREAD = 2

const whole = (value: number) => Math.round(value).toLocaleString('en-US')
const exact = (value: number) => value.toFixed(2)

/** All figures of a run; what was not asked for is not there. */
export interface Figures {
  rows: RowResult[]
  memoryMb?: number
  memory1000StoresMb?: number
  startMs?: number
  mixedPerSecond?: number
  newsletter?: Mailed
  paging?: Paged[]
  /** A roster of 10,000 seats as a whole. */
  rosterMs?: number
  storm?: Storm
  visitors?: Visitors
  webhooks?: Told
  priceLarge?: PriceLarge
  large?: Large[]
  workers?: Together[]
  texts?: TextStorm
}

/** One bar and what was measured for it. */
interface Bar {
  what: string
  value: number
  bar: string
  met: boolean
}

const atLeast = (what: string, value: number, least: number, unit = ''): Bar => ({
  what,
  value,
  bar: `>= ${least}${unit}`,
  met: value >= least,
})
const under = (what: string, value: number, most: number, unit = ''): Bar => ({ what, value, bar: `< ${most}${unit}`, met: value < most })

/** The bars of a row, as far as the rows that it is compared with were measured. */
function barsOf(row: RowResult, all: readonly RowResult[]): Bar[] {
  const ratio = (least: number) => atLeast(`${row.name}: ratio to the floor`, row.ratio, least)
  /** How many times as many as another row of the same round. */
  const times = (name: RowName, least: number): Bar[] => {
    const other = all.find((candidate) => candidate.name === name)
    return other
      ? [atLeast(`${row.name}: times ${name}`, median(row.perRound.stoa.map((rate, i) => rate / other.perRound.stoa[i]!)), least, 'x')]
      : []
  }
  switch (row.name as RowName) {
    case 'list-products':
    case 'get-product':
    case 'get-order':
    case 'add-to-cart':
    case 'checkout-1':
    case 'ticket-checkout-32':
    case 'checkin':
      return [ratio(RATIOS[row.name as keyof typeof RATIOS])]
    case 'list-products-hot':
      return [ratio(LIST_HOT_RATIO)]
    case 'get-product-hot':
      return [ratio(PRODUCT_HOT_RATIO)]
    case 'list-products-written':
      return [ratio(LIST_WRITTEN_RATIO)]
    case 'get-product-written':
      return []
    case 'product-304':
      return times('get-product', UNCHANGED_TIMES)
    case 'checkout-32':
      return [ratio(RATIOS['checkout-32']), ...times('checkout-1', GROUPED_TIMES)]
    case 'reads-beside-checkouts':
      return [under('reads-beside-checkouts: p99, times without', row.alone!.p99Ratio, BESIDE_TIMES, 'x')]
  }
}

const barsOfWebhooks = ({ events, perSecond, restMb, memoryMb, aloneP99Ms, besideP99Ms }: Told): Bar[] => [
  atLeast('webhooks: deliveries a second', perSecond, DELIVERIES_PER_S),
  under(`webhooks: MB more while ${whole(events)} events go out`, memoryMb - restMb, DELIVERIES_MB),
  under('webhooks: p99 of checkouts with five, times without', besideP99Ms / aloneP99Ms, BESIDE_WEBHOOKS_TIMES, 'x'),
]

/** The bars of what goes on in the background, and of long lists. */
const barsOfMarketing = ({ newsletter, paging, rosterMs, storm, visitors, webhooks }: Figures): Bar[] => [
  ...(webhooks ? barsOfWebhooks(webhooks) : []),
  ...(newsletter ? [under(`memory while ${whole(newsletter.recipients)} mails go out, MB`, newsletter.memoryMb, MAIL_MEMORY_MB)] : []),
  ...[...(paging ?? []), ...(visitors?.words ?? [])].flatMap(({ list, rows, short, firstTimes, middleTimes }) => [
    under(`${list}: first page of ${whole(rows)}, times of ${short}`, firstTimes, PAGE_TIMES, 'x'),
    under(`${list}: middle page of ${whole(rows)}, times of ${short}`, middleTimes, PAGE_TIMES, 'x'),
  ]),
  ...(rosterMs === undefined ? [] : [under('roster of 10,000 seats, ms', rosterMs, ROSTER_MS)]),
  ...(storm ? [under(`${whole(storm.orders)} orders over workstations: spread`, storm.split[0]! - storm.split.at(-1)!, SPREAD)] : []),
  ...(visitors
    ? [
        under(
          `p99 of product reads beside ${whole(visitors.moderation.reviews)} decisions, times without`,
          visitors.moderation.times,
          MODERATION_TIMES,
          'x',
        ),
      ]
    : []),
]

/** Every bar that the figures of a run say something about. */
export function bars(figures: Figures): Bar[] {
  const { rows, memoryMb, memory1000StoresMb, startMs, priceLarge } = figures
  return [
    ...ROW_NAMES.flatMap((name) => rows.filter((row) => row.name === name)).flatMap((row) => barsOf(row, rows)),
    ...(figures.large ?? []).flatMap(({ name, healthMs, loopMs }) => [
      under(`${name}: longest wait of /healthz beside it, ms`, healthMs, HEALTH_MS),
      ...(loopMs === null ? [] : [under(`${name}: most event loop of one request, ms`, loopMs, HEALTH_MS)]),
    ]),
    ...(figures.workers ?? []).map(({ what, processes, ratio }) =>
      atLeast(`${what} with ${processes} processes, times those with one`, ratio, TOGETHER[what], 'x'),
    ),
    ...(figures.texts ? [under('hostile-texts: p99 of /healthz beside them, ms', figures.texts.besideP99Ms, TEXTS_MS)] : []),
    ...(priceLarge ? [under('price-large: inside a write, ms', priceLarge.medianMs, PRICE_MS)] : []),
    ...(memoryMb === undefined ? [] : [under('memory after mixed load, MB', memoryMb, MEMORY_MB)]),
    ...(memory1000StoresMb === undefined ? [] : [under('memory with 1,000 stores open, MB', memory1000StoresMb, MEMORY_STORES_MB)]),
    ...(startMs === undefined ? [] : [under('start to first answer, ms', startMs, START_MS)]),
    ...barsOfMarketing(figures),
  ]
}

function columns(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  return lines
    .map((line) => line.map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))).join('  '))
    .join('\n')
}

/** A line each for what goes on in the background. */
const background = ({ newsletter, storm, visitors, webhooks, texts }: Figures): string[] => [
  ...(texts
    ? [
        `hostile texts: ${whole(Object.values(texts.statuses).reduce((sum, count) => sum + count, 0))} requests; /healthz p99 ${exact(texts.aloneP99Ms)} ms beside buyers, ${exact(texts.besideP99Ms)} ms beside both, ${exact(texts.worstMs)} ms at most`,
      ]
    : []),
  ...(webhooks
    ? [
        `webhooks: ${whole(webhooks.events)} deliveries at ${whole(webhooks.perSecond)}/s; p99 of checkouts ${exact(webhooks.aloneP99Ms)} ms without, ${exact(webhooks.besideP99Ms)} ms with five`,
      ]
    : []),
  ...(newsletter
    ? [
        `newsletter: ${whole(newsletter.recipients)} mails in ${exact(newsletter.seconds)} s, ${whole(newsletter.perSecond)}/s, ${exact(newsletter.ratio)} of nodemailer alone`,
      ]
    : []),
  ...(storm
    ? [
        `workstations: ${whole(storm.orders)} orders paid at once in ${exact(storm.seconds)} s, ${storm.split.join('/')}; p99 of lists ${exact(storm.aloneP99Ms)} ms alone, ${exact(storm.besideP99Ms)} ms meanwhile`,
      ]
    : []),
  ...(visitors
    ? [
        `moderation: ${whole(visitors.moderation.reviews)} reviews in ${exact(visitors.moderation.seconds)} s; p99 of product reads ${exact(visitors.moderation.aloneP99Ms)} ms alone, ${exact(visitors.moderation.besideP99Ms)} ms meanwhile`,
      ]
    : []),
]

/** The figures as a table, and under it each bar with what was measured for it. */
export function table(figures: Figures): string {
  const head = ['row', 'floor/s', 'Stoa/s', 'ratio', 'p50 ms', 'p99 ms', 'floor p50', 'floor p99']
  const lines = figures.rows.map((row) => [
    row.name,
    whole(row.floorPerSecond),
    whole(row.stoaPerSecond),
    exact(row.ratio),
    exact(row.p50Ms),
    exact(row.p99Ms),
    exact(row.floorP50Ms),
    exact(row.floorP99Ms),
  ])
  const held = bars(figures).map(({ what, value, bar, met }) => [
    what,
    value < 100 ? exact(value) : whole(value),
    bar,
    met ? 'ok' : 'MISSED',
  ])
  const beside = figures.rows.flatMap(({ alone }) =>
    alone
      ? [
          `reads alone: ${whole(alone.perSecond)}/s, p99 ${exact(alone.p99Ms)} ms; beside them ${whole(alone.besidePerSecond)} checkouts/s; the floor's p99 grows ${exact(alone.floorP99Ratio)} times`,
        ]
      : [],
  )
  const { priceLarge } = figures
  const large = (figures.large ?? []).map(
    ({ name, products, perSecond, p50Ms, p99Ms, healthMs, healthAloneMs }) =>
      `${name}: ${whole(products)} products, ${exact(perSecond)}/s, p50 ${exact(p50Ms)} ms, p99 ${exact(p99Ms)} ms; /healthz waits ${exact(healthMs)} ms at most, ${exact(healthAloneMs)} alone`,
  )
  if (priceLarge)
    large.push(
      `price-large: 500 lines, 500 promotions of 500 ids in ${exact(priceLarge.medianMs)} ms, at worst ${exact(priceLarge.worstMs)} ms; ${exact(priceLarge.changedMs)} ms when a promotion was changed before`,
    )
  for (const { what, processes, alonePerSecond, togetherPerSecond } of figures.workers ?? [])
    large.push(`workers: ${whole(alonePerSecond)} ${what}/s of one process, ${whole(togetherPerSecond)} of ${processes}`)
  const mixed = figures.mixedPerSecond === undefined ? [] : [`mixed load: ${whole(figures.mixedPerSecond)} operations/s`]
  return [
    ...(lines.length ? [columns([head, ...lines])] : []),
    [...beside, ...large, ...mixed, ...background(figures)].join('\n'),
    columns([['bar', 'measured', 'must be', ''], ...held]),
  ]
    .filter(Boolean)
    .join('\n\n')
}

const rounded = (_: string, value: unknown) => (typeof value === 'number' ? Number(value.toFixed(3)) : value)

/** The figures as one JSON document. */
export const document = (figures: Figures): string =>
  JSON.stringify(
    {
      ...figures,
      missed: bars(figures)
        .filter((bar) => !bar.met)
        .map(({ what }) => what),
    },
    rounded,
    2,
  )
