/** What the bench of the peers says: the document for programs, and the same as a table for people. */
import type { Peers } from '../../site/lib/measured.ts'
import type { Machine } from './machine.ts'
import { CONNECTIONS, SECONDS, type Row } from './measure.ts'
import { PRODUCTS } from './catalog.ts'
import { ABOUT, CALLS } from './variants.ts'

/** All of a run, as the site shows it; without a repository there is no commit. */
export interface Compared extends Omit<Peers, 'commit' | 'rows'> {
  commit: string | null
  machine: Machine
  versions: Record<'stoa' | 'vendure' | 'medusa' | 'node' | 'bun' | 'postgres', string>
  rows: Row[]
}

/** What stays the same from run to run. */
export const CONDITIONS = { seconds: SECONDS, connections: CONNECTIONS, products: PRODUCTS }

const columns = (lines: readonly (readonly string[])[]) => {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  const text = (cell: string, column: number) => (column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))
  return lines.map((line) => line.map(text).join('  ').trimEnd()).join('\n')
}

const rate = (perSecond: number) => (perSecond < 100 ? perSecond.toFixed(1) : Math.round(perSecond).toLocaleString('en-US'))
const best = (rows: readonly Row[]) => Math.max(...rows.map(({ perSecond }) => perSecond))

/** One call: the rows of all systems, the best of each marked, and how many times as many answers Stoa gives in each of its ways. */
function section(call: Row['call'], all: readonly Row[]): string {
  const rows = all.filter((row) => row.call === call)
  const stoa = rows.filter(({ system }) => system === 'stoa')
  const times = (own: Row, { perSecond }: Row) => `${(own.perSecond / perSecond).toFixed(own.perSecond < perSecond ? 2 : 1)}x`
  const lines = rows.map((row) => [
    row.system,
    row.variant,
    rate(row.perSecond),
    row.p50Ms.toFixed(2),
    row.p99Ms.toFixed(2),
    ...stoa.map((own) => (row.system === 'stoa' ? '' : times(own, row))),
    row.perSecond === best(rows.filter(({ system }) => system === row.system)) ? '*' : '',
  ])
  const head = ['system', 'variant', 'per s', 'p50 ms', 'p99 ms', ...stoa.map(({ variant }) => `Stoa ${variant}`), 'best']
  return `${call}: ${ABOUT[call]}\n${columns([head, ...lines])}`
}

/** The run as tables, and what must be known beside them. */
export function table(compared: Compared): string {
  const { versions, machine, rounds, seconds, connections, rows, notCompared, against } = compared
  const list = (title: string, sentences: readonly string[]) => `${title}:\n${sentences.map((sentence) => `- ${sentence}`).join('\n')}`
  return [
    Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
    `${machine.cpus} CPUs (${machine.model}), ${machine.memoryGb} GB, ${machine.os}`,
    `the median of ${rounds} rounds of ${seconds} s, ${connections} connections, ${compared.products.toLocaleString('en-US')} products`,
  ]
    .join('\n')
    .concat('\n\n', CALLS.map((call) => section(call, rows)).join('\n\n'))
    .concat('\n\n', list('not compared', notCompared), '\n\n', list('what speaks against the comparison', against))
}

const rounded = (_: string, value: unknown) => (typeof value === 'number' ? Number(value.toFixed(3)) : value)

/** The run as one JSON document. */
export const document = (compared: Compared): string => JSON.stringify(compared, rounded, 2)
