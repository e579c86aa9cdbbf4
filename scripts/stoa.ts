/** The command line: `npm run -s stoa -- --help`. Safe while the servers run. */
import { Command, CommanderError } from 'commander'
import { version } from '../package.json'
import { keyCommands } from './stoa/key.ts'
import { maintenanceCommands } from './stoa/maintain.ts'
import { seedCommand } from './stoa/seed.ts'
import { storeCommands } from './stoa/store.ts'
import { teamCommands } from './stoa/team.ts'

const USAGE = 2

const program = new Command('stoa')
  .description('Runs stores: see README.md for the configuration, which comes from the environment.')
  .version(version)
  .option('--json', 'print one JSON document and nothing else')
  .exitOverride()
  .configureHelp({ showGlobalOptions: true })
for (const add of [storeCommands, keyCommands, teamCommands, maintenanceCommands, seedCommand]) add(program)

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : USAGE
  else {
    console.error(`error: ${error instanceof Error ? error.message : error}`)
    process.exitCode = 1
  }
}
