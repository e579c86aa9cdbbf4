/** The command line: `npm run -s stoa -- --help`. Safe while the servers run. */
import { Command, CommanderError } from 'commander'
import { version } from '../package.json'

const USAGE = 2
const store = async () => (await import('./stoa/store.ts')).storeCommands
const key = async () => (await import('./stoa/key.ts')).keyCommands
const team = async () => (await import('./stoa/team.ts')).teamCommands
const installation = async () => (await import('./stoa/installation.ts')).installationCommands
const maintenance = async () => (await import('./stoa/maintain.ts')).maintenanceCommands
const builder = async () => (await import('./stoa/builder.ts')).builderCommands
const buy = async () => (await import('./stoa/buy.ts')).buyCommand
const jobs = async () => (await import('./stoa/jobs.ts')).jobCommands
const secrets = async () => (await import('./stoa/secrets.ts')).secretCommands
const seed = async () => (await import('./stoa/seed.ts')).seedCommand
/** Who adds each command: the one that is asked for is loaded alone, which takes two thirds of the time; for help all are. */
const COMMANDS = {
  ...{ store, key, team, backup: installation, restore: installation, migrate: maintenance, doctor: maintenance, jobs, secrets, seed, buy },
  ...{ publish: builder, deployments: builder, rollback: builder },
}

/** What commander says on standard output: help, or the version. Whether as JSON is known once all has been read. */
let said = ''
const program = new Command('stoa')
  .description('Runs stores: see README.md for the configuration, which comes from the environment.')
  .version(version)
  .option('--json', 'print one JSON document and nothing else')
  .exitOverride()
  .configureHelp({ showGlobalOptions: true })
  .configureOutput({ writeOut: (text) => (said += text) })
const command = process.argv.slice(2).find((word) => word !== '--json')
const own = Object.entries(COMMANDS).find(([name]) => name === command)?.[1]
for (const load of own ? [own] : new Set(Object.values(COMMANDS))) (await load())(program)

/** Prints help, or the version. Commander stops reading there, so that a later `--json` is found among the arguments alone. */
function answer(code: string) {
  if (!process.argv.includes('--json')) process.stdout.write(said)
  else console.log(JSON.stringify(code === 'commander.version' ? { version } : { help: said }, null, 2))
}

try {
  await program.parseAsync()
} catch (error) {
  if (!(error instanceof CommanderError)) {
    console.error(`error: ${error instanceof Error ? error.message : error}`)
    process.exitCode = 1
  } else if (error.exitCode === 0) answer(error.code)
  else process.exitCode = USAGE
}
