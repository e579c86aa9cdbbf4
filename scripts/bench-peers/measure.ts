/** Measures all variants in rounds, in turn: what else the machine does meets all alike, and the median round counts. */
import { percentile, requestOf, run, type Measured, type Operation } from '../bench/load.ts'
import { median } from '../bench/rounds.ts'
import { requireAnswer, requireAnswers } from './check.ts'
import { requireGoing } from './processes.ts'
import { REQUESTS, type Variant } from './variants.ts'

/** Connections, each with one request under way: enough to keep every side busy, and few enough that the slowest answers in time. */
export const CONNECTIONS = 16
/** The time of one variant in one round. */
export const SECONDS = 3
const OK = [200]

/** The figures of one variant: medians over the rounds. */
export interface Row extends Pick<Variant, 'call' | 'system' | 'variant'> {
  perSecond: number
  p50Ms: number
  p99Ms: number
  perRound: number[]
}

interface Turned {
  variant: Variant
  operations: Operation[]
  rounds: Measured[]
}

const operationsOf = ({ call, port, ask }: Variant): Operation[] =>
  Array.from({ length: REQUESTS[call] }, (_, n) => {
    const { method, path, headers, body } = ask(n)
    return { first: requestOf(method, path, { ...headers, host: `127.0.0.1:${port}` }, body), expect: OK }
  })

async function load({ variant, operations }: Turned): Promise<Measured> {
  requireGoing()
  const next = (n: number) => operations[n % operations.length]!
  try {
    return await run({ port: variant.port, connections: CONNECTIONS, next, maxMs: SECONDS * 1_000 })
  } catch (error) {
    throw new Error(`${variant.system}, ${variant.call}, ${variant.variant}: ${error instanceof Error ? error.message : error}`)
  }
}

function rowOf({ variant: { call, system, variant }, rounds }: Turned): Row {
  const middle = (of: (one: Measured) => number) => median(rounds.map(of))
  return {
    ...{ call, system, variant },
    perSecond: middle((one) => one.perSecond),
    p50Ms: middle((one) => percentile(one, 0.5)),
    p99Ms: middle((one) => percentile(one, 0.99)),
    perRound: rounds.map((one) => one.perSecond),
  }
}

/**
 * Checks every answer of every variant, warms each up, and measures them; one answer of each is checked again behind each measurement.
 * Throws when an answer is not what was asked for. `say` hears what goes on.
 */
export async function measureInTurn(variants: readonly Variant[], rounds: number, say: (text: string) => void): Promise<Row[]> {
  const all: Turned[] = variants.map((variant) => ({ variant, operations: operationsOf(variant), rounds: [] }))
  say('checking the answers and warming up')
  for (const one of all) {
    await requireAnswers(one.variant)
    await load(one)
  }
  for (let round = 0; round < rounds; round++) {
    say(`round ${round + 1} of ${rounds}`)
    // There and back: none is always behind the same other.
    for (const one of round % 2 ? all.toReversed() : all) {
      one.rounds.push(await load(one))
      await requireAnswer(one.variant, round % one.operations.length)
    }
  }
  return all.map(rowOf)
}
