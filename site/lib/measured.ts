/** What was measured: each figure that pages quote, and the comparison with other backends, with what speaks against them. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { printed, type Figure } from './figures.ts'

/** One way to ask one system for something. */
export interface Row {
  call: string
  system: string
  variant: string
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** Of each round; `perSecond` is their median. */
  perRound: number[]
}

/** What `npm run bench:peers --json` prints. */
export interface Peers {
  date: string
  commit: string
  machine: { cpus: number; model: string; memoryGb: number; os: string }
  versions: Record<string, string>
  rounds: number
  seconds: number
  connections: number
  products: number
  rows: Row[]
  notCompared: string[]
  against: string[]
}

export const MEASURED = {
  path: '/measured',
  title: 'Measured',
  about:
    'The figures of the home page and the comparison with other backends: when, on what and by which command each was measured, and what speaks against it.',
}

/** Raw results of the comparison, as they are served. */
export const RAW = '/measured/peers.json'
const FILE = 'content/measured/peers.json'

export const readPeers = (root: string): Peers | null =>
  existsSync(join(root, FILE)) ? (JSON.parse(readFileSync(join(root, FILE), 'utf8')) as Peers) : null

/** How the rows are called that compare Stoa at its own expense: peers remember no answers either. */
export const FORGETFUL = 'remembering no answers'
const CALLS: Record<string, string> = { list: 'a list of 20 products', product: 'one product', cart: 'a cart with a line' }

/** The figures that pages may quote of the comparison: how many times as often Stoa answers as each other system at its best call. */
export function figuresOf(peers: Peers): Figure[] {
  const { machine } = peers
  return byCall(peers).flatMap(([call, rows]) => {
    const best = (system: string) => rows.find((row) => row.system === system)!
    const forgetful = rows.find(({ variant }) => variant === FORGETFUL)!
    return ['vendure', 'medusa'].map((system) => ({
      id: `${system}-${call}`,
      value: Number((forgetful.perSecond / best(system).perSecond).toPrecision(2)),
      unit: 'times',
      what: `How many times as often a second Stoa answers ${CALLS[call] ?? call}, remembering no answers, as ${system} at its best call (${best(system).variant}), to two digits.`,
      date: peers.date.slice(0, 10),
      commit: peers.commit.slice(0, 7),
      machine: `${machine.cpus} cores (${machine.model}), ${machine.memoryGb} GB, ${machine.os}`,
      command: 'npm run bench:peers',
      caveats: ['What speaks against the comparison stands below its tables.'],
    }))
  })
}

const rate = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const time = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 })
const cells = (values: readonly (string | number)[]) => `| ${values.join(' | ')} |`
const tableOf = (head: readonly string[], rows: readonly (readonly (string | number)[])[], right: readonly number[]) =>
  [cells(head), cells(head.map((_, i) => (right.includes(i) ? '---:' : '---'))), ...rows.map(cells)].join('\n')
const capital = (text: string) => text[0]!.toUpperCase() + text.slice(1)
const list = (entries: readonly string[]) => entries.map((entry) => `- ${entry}`).join('\n')

/** The rows of each call, the fastest first. */
export const byCall = ({ rows }: Peers): [call: string, rows: Row[]][] => [
  ...Map.groupBy(
    rows.toSorted((a, b) => b.perSecond - a.perSecond),
    ({ call }) => call,
  ),
]

function peersPart(peers: Peers): string[] {
  const { machine, versions } = peers
  return [
    '## Beside other backends',
    `Requests a second: the median of ${peers.rounds} rounds in one run, and the lowest and the highest of them. Rounds take ${peers.seconds} s each, in turn, over ${peers.connections} connections, with ${rate.format(peers.products)} products in each. All variants that were measured are shown.`,
    ...byCall(peers).flatMap(([call, rows]) => [
      `### ${capital(CALLS[call] ?? call)}`,
      tableOf(
        ['System', 'Variant', 'Requests/s', 'Rounds', 'p50', 'p99'],
        rows.map(({ system, variant, perSecond, perRound, p50Ms, p99Ms }) => [
          system,
          variant,
          rate.format(perSecond),
          `${rate.format(Math.min(...perRound))} to ${rate.format(Math.max(...perRound))}`,
          `${time.format(p50Ms)} ms`,
          `${time.format(p99Ms)} ms`,
        ]),
        [2, 3, 4, 5],
      ),
    ]),
    '### What speaks against it',
    list(peers.against),
    '### Not compared',
    list(peers.notCompared),
    '### Configuration',
    list([
      `Machine: ${machine.cpus} cores (${machine.model}), ${machine.memoryGb} GB, ${machine.os}; ${peers.date.slice(0, 10)}, commit \`${peers.commit.slice(0, 7)}\``,
      `Versions: ${Object.entries(versions)
        .map(([name, version]) => `${name} ${version}`)
        .join(', ')}`,
      'Measured again by `npm run bench:peers`',
      `[Raw results](${RAW})`,
    ]),
  ]
}

const figurePart = (figure: Figure): string[] => [
  `### ${printed(figure)} (${figure.id})`,
  figure.what,
  ...(figure.caveats.length ? [`What speaks against it: ${figure.caveats.join(' ')}`] : []),
  `Measured on ${figure.date} at commit \`${figure.commit}\`, on ${figure.machine}, by \`${figure.command}\`.`,
]

/** The text of the page of what was measured. */
export const measuredBody = (figures: readonly Figure[], peers: Peers | null): string =>
  [MEASURED.about, ...(peers ? peersPart(peers) : []), '## Figures on other pages', ...figures.flatMap(figurePart)].join('\n\n')
