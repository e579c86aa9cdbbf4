/**
 * Rounds: each runs all rows, the floor and Stoa in turn. What else the machine does meets both alike, and spoils one round of
 * every row rather than every round of one; the median round counts.
 */
import { percentile, run, type Measured } from './load.ts'
import type { Part, Row, Side } from './rows.ts'

/** The figures of a row: medians over its rounds; latencies are Stoa's unless they say otherwise. */
export interface RowResult {
  name: string
  floorPerSecond: number
  stoaPerSecond: number
  ratio: number
  p50Ms: number
  p99Ms: number
  floorP50Ms: number
  floorP99Ms: number
  /** Rates of each round. */
  perRound: { floor: number[]; stoa: number[] }
  /** The same requests with nothing beside them, in the same rounds. */
  alone?: { perSecond: number; p99Ms: number; p99Ratio: number; floorPerSecond: number; floorP99Ratio: number; besidePerSecond: number }
}

/** The middle of some numbers; the mean of the middle two when they are even in number. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  return sorted.length % 2 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

interface Turn {
  main: Measured
  alone?: Measured
  beside?: Measured
}

async function measure(side: Side, part: Part, maxMs: number, options: { most?: number; until?: AbortSignal } = {}): Promise<Measured> {
  const most = options.most ?? part.most
  const next = await part.operations(side, most)
  return run({ port: side.port, connections: part.connections, next, maxMs, until: options.until })
}

/** Measures `part` while `beside` runs; each ends with the other. */
async function together(side: Side, { part, beside, roundMs }: Row): Promise<Turn> {
  const over = new AbortController()
  const ending = <T>(running: Promise<T>) => running.finally(() => over.abort())
  const [main, other] = await Promise.all([
    ending(measure(side, part, roundMs, { until: over.signal })),
    ending(measure(side, beside!, roundMs, { until: over.signal })),
  ])
  return { main, beside: other }
}

/** Sends a request now and then until told to stop. */
function pace(side: Side, { request, perSecond }: NonNullable<Row['meanwhile']>): () => Promise<void> {
  let last: Promise<unknown> = Promise.resolve()
  const timer = setInterval(() => {
    const { path, ...init } = request()
    last = fetch(`http://127.0.0.1:${side.port}${path}`, init).then((response) => response.arrayBuffer())
  }, 1_000 / perSecond)
  return async () => {
    clearInterval(timer)
    await last
  }
}

async function turn(side: Side, row: Row): Promise<Turn> {
  if (row.meanwhile && side.name === 'hot') {
    const stop = pace(side, row.meanwhile)
    return { main: await measure(side, row.part, row.roundMs).finally(stop) }
  }
  if (!row.beside) return { main: await measure(side, row.part, row.roundMs) }
  const alone = await measure(side, row.part, row.roundMs)
  return { ...(await together(side, row)), alone }
}

async function warm(side: Side, { part, beside, warmMs }: Row) {
  await measure(side, part, warmMs, { most: part.warm })
  if (beside) await measure(side, beside, warmMs, { most: beside.warm })
}

type Turns = Record<'floor' | 'stoa', Turn[]>

function resultOf(row: Row, turns: Turns): RowResult {
  const middle = (of: (floor: Turn, stoa: Turn) => number) => median(turns.stoa.map((one, i) => of(turns.floor[i]!, one)))
  const p99Ratio = ({ main, alone }: Turn) => percentile(main, 0.99) / percentile(alone!, 0.99)
  return {
    name: row.name,
    floorPerSecond: middle((floor) => floor.main.perSecond),
    stoaPerSecond: middle((_, stoa) => stoa.main.perSecond),
    ratio: middle((floor, stoa) => stoa.main.perSecond / floor.main.perSecond),
    p50Ms: middle((_, stoa) => percentile(stoa.main, 0.5)),
    p99Ms: middle((_, stoa) => percentile(stoa.main, 0.99)),
    floorP50Ms: middle((floor) => percentile(floor.main, 0.5)),
    floorP99Ms: middle((floor) => percentile(floor.main, 0.99)),
    perRound: { floor: turns.floor.map(({ main }) => main.perSecond), stoa: turns.stoa.map(({ main }) => main.perSecond) },
    ...(row.beside
      ? {
          alone: {
            perSecond: middle((_, stoa) => stoa.alone!.perSecond),
            p99Ms: middle((_, stoa) => percentile(stoa.alone!, 0.99)),
            p99Ratio: middle((_, stoa) => p99Ratio(stoa)),
            floorPerSecond: middle((floor) => floor.alone!.perSecond),
            floorP99Ratio: middle((floor) => p99Ratio(floor)),
            besidePerSecond: middle((_, stoa) => stoa.beside!.perSecond),
          },
        }
      : {}),
  }
}

/** Measures rows in so many rounds; `say` hears which one begins. */
export async function measureRows(
  rows: readonly Row[],
  sides: Record<Side['name'], Side>,
  rounds: number,
  say: (text: string) => void,
): Promise<RowResult[]> {
  const turns = new Map<Row, Turns>(rows.map((row) => [row, { floor: [], stoa: [] }]))
  const sideOf = (row: Row, which: keyof Turns) => sides[which === 'stoa' && row.isHot ? 'hot' : which]
  say('warming up')
  for (const row of rows) for (const which of ['floor', 'stoa'] as const) await warm(sideOf(row, which), row)
  for (let round = 0; round < rounds; round++) {
    say(`round ${round + 1} of ${rounds}`)
    for (const row of rows)
      for (const which of round % 2 ? (['stoa', 'floor'] as const) : (['floor', 'stoa'] as const))
        turns.get(row)![which].push(await turn(sideOf(row, which), row))
  }
  return rows.map((row) => resultOf(row, turns.get(row)!))
}
