/** The command line: `npm run -s stoa -- --help`. Safe while the servers run. */
import { Command, CommanderError } from 'commander'
import { version } from '../package.json'
import { installationCommands } from './stoa/installation.ts'
import { keyCommands } from './stoa/key.ts'
import { maintenanceCommands } from './stoa/maintain.ts'
import { seedCommand } from './stoa/seed.ts'
import { storeCommands } from './stoa/store.ts'
import { teamCommands } from './stoa/team.ts'

const USAGE = 2

/** What commander says on standard output: help, or the version. Whether as JSON is known once all has been read. */
let said = ''
const program = new Command('stoa')
  .description('Runs stores: see README.md for the configuration, which comes from the environment.')
  .version(version)
  .option('--json', 'print one JSON document and nothing else')
  .exitOverride()
  .configureHelp({ showGlobalOptions: true })
  .configureOutput({ writeOut: (text) => (said += text) })
for (const add of [storeCommands, keyCommands, teamCommands, installationCommands, maintenanceCommands, seedCommand]) add(program)

/** Prints help, or the version. Commander stops reading there, so that a later `--json` is found among the arguments alone. */
function answer(asked: string) {
  if (!process.argv.includes('--json')) process.stdout.write(said)
  else console.log(JSON.stringify(asked === 'commander.version' ? { version } : { help: said }, null, 2))
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
