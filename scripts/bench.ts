/**
 * `npm run bench`: Stoa against a floor of bare statements, in turn and on the same data, with the bars that it must meet. The
 * ratios mean something on any machine, the rates only on this one.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { LARGE_ROWS, measureLarge } from './bench/large.ts'
import { memoryAfterLoad, memoryWithStores, startTime } from './bench/memory.ts'
import { sendNewsletter } from './bench/newsletter.ts'
import { measurePaging } from './bench/paging.ts'
import { measurePrice } from './bench/price-large.ts'
import { document, table, type Figures } from './bench/report.ts'
import { requests } from './bench/requests.ts'
import { measureRows } from './bench/rounds.ts'
import { cartsFor, ROW_NAMES, rowsOf, ticketsFor, type Side } from './bench/rows.ts'
import { requireSame } from './bench/same.ts'
import { seed, type Seeded } from './bench/seed.ts'
import { stormWorkstations } from './bench/storm.ts'
import { stormTexts } from './bench/texts.ts'
import { endAll, startFloor, startStoa, type Server } from './bench/servers.ts'
import { measureVisitors } from './bench/visitors.ts'
import { measureWebhooks } from './bench/webhooks.ts'
import { measureWorkers } from './bench/workers.ts'

const PRODUCTS = 1_000
const ORDERS = 10_000
const ROUNDS = 5
const ROUNDS_MAX = 20
const STORES = 1_000
const RECIPIENTS = 10_000
const STORM_PRODUCTS = 100
const MIXED_LOAD_MS = 60_000
/** Exit status of a program that was interrupted. */
const INTERRUPTED = 130
/** Carts that the comparison of answers takes. */
const CARTS_COMPARED = 2
const TICKETS_COMPARED = 1

/** What `--only` takes: rows that are asked for over HTTP, one that needs no server, those of a large store, one of several processes, and one of hostile texts. */
const NAMES = [...ROW_NAMES, 'price-large', ...LARGE_ROWS, 'workers', 'hostile-texts'] as const

interface Options {
  json?: boolean
  only: (typeof NAMES)[number][]
  rounds: number
  memory: boolean
  marketing: boolean
}

function names(text: string): Options['only'] {
  const asked = text.split(',').map((name) => name.trim())
  const unknown = asked.find((name) => !(NAMES as readonly string[]).includes(name))
  if (unknown !== undefined) throw new InvalidArgumentError(`${unknown} is no row: choose from ${NAMES.join(', ')}`)
  return NAMES.filter((name) => asked.includes(name))
}

function rounds(text: string): number {
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1 || count > ROUNDS_MAX)
    throw new InvalidArgumentError(`must be a whole number from 1 to ${ROUNDS_MAX}`)
  return count
}

/** Runs the rows on a floor and a Stoa of their own. */
async function measure(dataDir: string, seeded: Seeded, options: Options, say: (text: string) => void): Promise<Figures['rows']> {
  const file = join(dataDir, 'floor.sqlite')
  copyFileSync(join(dataDir, `${seeded.database}.db`), file)
  const running: Server[] = []
  try {
    const side = async (name: Side['name'], server: Promise<Server>): Promise<Side> => {
      running.push(await server)
      const { cartIds, ticketCartIds, tokens } = seeded
      const supply = (ids: readonly string[]) => ({ ids, used: 0 })
      return { name, port: running.at(-1)!.port, carts: supply(cartIds), ticketCarts: supply(ticketCartIds), tokens: supply(tokens) }
    }
    const floor = await side('floor', startFloor(file))
    const stoa = await side('stoa', startStoa(dataDir, { isCold: true }))
    const hot = await side('hot', startStoa(dataDir))
    await requireSame(floor, stoa, seeded)
    const rows = rowsOf(seeded, requests(seeded)).filter((row) => options.only.includes(row.name))
    return await measureRows(rows, { floor, stoa, hot }, options.rounds, say)
  } finally {
    for (const server of running) await server.stop()
  }
}

/** A data folder of its own. */
function own(folder: string, name: string): string {
  const dataDir = join(folder, name)
  mkdirSync(dataDir)
  return dataDir
}

/** What goes on in the background, and long lists: each on data of its own. */
async function measureMarketing(folder: string, say: (text: string) => void): Promise<Partial<Figures>> {
  say('a newsletter')
  const newsletter = await sendNewsletter(own(folder, 'newsletter'), RECIPIENTS)
  say('long lists')
  const { paging, rosterMs } = await measurePaging(own(folder, 'paging'))
  say('orders at workstations')
  const storm = own(folder, 'storm')
  const seeded = await seed({ url: `file:${storm}/{name}.db` }, { products: STORM_PRODUCTS, orders: STORM_PRODUCTS, carts: 0 })
  const webhooks = async () => {
    say('webhooks')
    const dataDir = own(folder, 'webhooks')
    return measureWebhooks(
      dataDir,
      await seed({ url: `file:${dataDir}/{name}.db` }, { products: STORM_PRODUCTS, orders: STORM_PRODUCTS, carts: 0 }),
    )
  }
  const visitors = async () => {
    say('reviews and comments')
    return measureVisitors(own(folder, 'visitors'))
  }
  return {
    newsletter,
    paging,
    rosterMs,
    storm: await stormWorkstations(storm, seeded),
    visitors: await visitors(),
    webhooks: await webhooks(),
  }
}

async function measureTexts(dataDir: string) {
  const amounts = { products: STORM_PRODUCTS, orders: STORM_PRODUCTS, carts: 0 }
  return stormTexts(dataDir, await seed({ url: `file:${dataDir}/{name}.db` }, amounts))
}

async function bench(options: Options): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'stoa-bench-'))
  const interrupted = async () => {
    await endAll()
    rmSync(folder, { recursive: true, force: true })
    process.exit(INTERRUPTED)
  }
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted)
  const say = (text: string) => {
    if (process.stderr.isTTY) process.stderr.write(`${text}…\n`)
  }
  try {
    const priceLarge = options.only.includes('price-large') ? await measurePrice(own(folder, 'price')) : undefined
    const large = LARGE_ROWS.filter((name) => options.only.includes(name))
    if (large.length) say('a store of 100,000 products')
    const alone: Partial<Figures> = { priceLarge }
    if (large.length) alone.large = await measureLarge(own(folder, 'large'), large, { rounds: options.rounds })
    if (options.only.includes('workers')) say('several processes')
    if (options.only.includes('workers')) alone.workers = await measureWorkers(own(folder, 'workers'), options.rounds)
    if (options.only.includes('hostile-texts')) {
      say('hostile texts')
      alone.texts = await measureTexts(own(folder, 'texts'))
    }
    const only = ROW_NAMES.filter((name) => options.only.includes(name))
    if (!only.length && !options.marketing && !options.memory) return { rows: [], ...alone }
    const dataDir = join(folder, 'data')
    say('seeding')
    const carts = CARTS_COMPARED + cartsFor(only, options.rounds)
    const { ticketCarts, seats } = ticketsFor(only, options.rounds)
    const amounts = {
      products: PRODUCTS,
      orders: ORDERS,
      carts,
      ticketCarts: TICKETS_COMPARED + ticketCarts,
      seats: TICKETS_COMPARED + seats,
    }
    const seeded = await seed({ url: `file:${dataDir}/{name}.db` }, amounts)
    const figures: Figures = { rows: await measure(dataDir, seeded, options, say), ...alone }
    if (options.marketing) Object.assign(figures, await measureMarketing(folder, say))
    if (!options.memory) return figures
    say('starting')
    figures.startMs = await startTime(join(folder, 'start'))
    say('memory with many stores')
    figures.memory1000StoresMb = await memoryWithStores(join(folder, 'stores'), STORES)
    say('memory after mixed load')
    const { memoryMb, perSecond } = await memoryAfterLoad(dataDir, seeded, MIXED_LOAD_MS)
    return { ...figures, memoryMb, mixedPerSecond: perSecond }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const program = new Command('bench')
  .description('Measures Stoa against the same statements in plain code; takes about seven minutes.')
  .option('--json', 'print one JSON document')
  .option('--only <rows>', 'measure these rows only, separated by commas', names, [...NAMES])
  .option('--rounds <count>', 'rounds of each row; the median counts', rounds, ROUNDS)
  .option('--no-marketing', 'leave out newsletters, long lists, workstations and reviews')
  .option('--no-memory', 'leave out memory and start')
  .action(async (options: Options) => {
    const figures = await bench(options)
    console.log(options.json ? document(figures) : table(figures))
  })

program.parseAsync().catch((error) => {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
})
