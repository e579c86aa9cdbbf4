/**
 * `npm run bench:peers`: Stoa beside two other store backends, vendure with SQLite and medusa with PostgreSQL, in turn in one run and on
 * the same catalog, each asked in every way that is known to be good for it. The first run sets both up in a folder outside the
 * repository. It needs Node and npm with a registry that can be reached, a compiler for better-sqlite3 (Debian: build-essential and
 * python3), PostgreSQL (Debian: postgresql), and 2 GB on the disk; it takes about half an hour, later ones with `--keep` about ten minutes.
 */
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { AGAINST, NOT_COMPARED } from './bench-peers/against.ts'
import { startFloor } from './bench-peers/floor.ts'
import { leaveFolder, ownFolder, takeFolder } from './bench-peers/folder.ts'
import { commit, doubts, machine, ownVersions } from './bench-peers/machine.ts'
import { measureInTurn } from './bench-peers/measure.ts'
import { startMedusa } from './bench-peers/medusa.ts'
import { postgresVersion } from './bench-peers/postgres.ts'
import { endPeers } from './bench-peers/processes.ts'
import { CONDITIONS, document, table, type Compared } from './bench-peers/report.ts'
import { startStoas } from './bench-peers/stoa.ts'
import { CALLS, type Variant } from './bench-peers/variants.ts'
import { startVendure } from './bench-peers/vendure.ts'
import { endAll } from './bench/servers.ts'

const ROUNDS = 5
const ROUNDS_MAX = 20
/** Exit status of a program that was interrupted. */
const INTERRUPTED = 130
const RUN = 'run'

interface Options {
  json?: boolean
  rounds: number
  folder: string
  keep?: boolean
}

function rounds(text: string): number {
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1 || count > ROUNDS_MAX)
    throw new InvalidArgumentError(`must be a whole number from 1 to ${ROUNDS_MAX}`)
  return count
}

/** Progress, for whoever looks on. */
const say = (text: string) => process.stderr.write(`${text}…\n`)

/** Ends all that was started: Stoa's servers once nothing new can start, then the peers. */
async function endEverything() {
  const peers = endPeers()
  await endAll()
  await peers
}

async function compare(folder: string, options: Options): Promise<Compared> {
  const sure = doubts()
  // Before anything is set up: it must be there.
  const postgres = postgresVersion()
  for (const doubt of sure) console.error(doubt)
  say('vendure')
  const vendure = await startVendure(folder)
  say('medusa')
  const medusa = await startMedusa(folder)
  say('stoa')
  const own = ownFolder(folder, RUN)
  const stoa = await startStoas(join(own, 'data'))
  const variants: Variant[] = [...(await startFloor(own, stoa)), ...stoa, ...vendure.variants, ...medusa.variants]
  const inOrder = CALLS.flatMap((call) => variants.filter((variant) => variant.call === call))
  const { node, bun, stoa: version } = ownVersions()
  return {
    date: new Date().toISOString(),
    commit: commit(),
    machine: machine(),
    versions: { stoa: version, vendure: vendure.version, medusa: medusa.version, node, bun, postgres },
    rounds: options.rounds,
    ...CONDITIONS,
    rows: await measureInTurn(inOrder, options.rounds, say),
    notCompared: NOT_COMPARED,
    against: [...sure, ...AGAINST],
  }
}

async function bench(options: Options): Promise<Compared> {
  const folder = takeFolder(resolve(options.folder))
  let left: Promise<void> | null = null
  const leave = () =>
    (left ??= endEverything().finally(() => {
      rmSync(join(folder, RUN), { recursive: true, force: true })
      leaveFolder(folder, options.keep ?? false)
    }))
  const interrupted = () => {
    process.exitCode = INTERRUPTED
    void leave().finally(() => process.exit(INTERRUPTED))
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, interrupted)
  try {
    return await compare(folder, options)
  } finally {
    await leave()
  }
}

const program = new Command('bench:peers')
  .description('Measures Stoa beside vendure and medusa; takes about half an hour where they must be set up first.')
  .option('--json', 'print one JSON document')
  .option('--rounds <count>', 'rounds of each variant; the median counts', rounds, ROUNDS)
  .option('--folder <path>', 'where the others are set up', join(tmpdir(), 'stoa-bench-peers'))
  .option('--keep', 'keep what was set up for another run')
  .action(async (options: Options) => {
    const compared = await bench(options)
    console.log(options.json ? document(compared) : table(compared))
  })

program.parseAsync().catch((error) => {
  // What fails because the run is interrupted is no failure of its own.
  if (!process.exitCode) console.error(error instanceof Error ? error.message : error)
  process.exit(process.exitCode ?? 1)
})
