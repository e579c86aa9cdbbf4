/** `stoa secrets …`: the key with which credentials, tokens and links are sealed, and its change. */
import type { Command } from 'commander'
import { sealAnew, sealingsOf, type Keys, type Sealings } from '../../api/sealed-values.ts'
import { addKey, forgetKeys, LOOK_MS, newestOf, secretsOf } from '../../api/server/key-file.ts'
import type { Config } from '../../api/server/config.ts'
import type { Registry } from '../../db/control/registry.ts'
import type { Environment } from '../../db/open.ts'
import { print, progress, withDatabase, withRegistry } from './context.ts'

const keysOf = (config: Config): Keys => ({ newest: newestOf(config).newest, all: secretsOf(config) })

interface Total extends Sealings {
  /** Databases that could not be opened, with the reason. */
  failed: { storeId: string; environment: Environment; error: string }[]
}

/** Goes through the databases of all stores, one after the other. */
async function through(
  registry: Registry,
  work: (storeId: string, environment: Environment) => Promise<Sealings>,
  tell = (_: string) => {},
) {
  const total: Total = { newest: 0, old: 0, closed: 0, failed: [] }
  const stores = await registry.listStores()
  for (const [i, { id: storeId }] of stores.entries()) {
    tell(`stores ${i + 1} of ${stores.length}`)
    for (const environment of ['live', 'sandbox'] as const)
      try {
        const { newest, old, closed } = await work(storeId, environment)
        Object.assign(total, { newest: total.newest + newest, old: total.old + old, closed: total.closed + closed })
      } catch (error) {
        total.failed.push({ storeId, environment, error: error instanceof Error ? error.message : String(error) })
      }
  }
  return total
}

const told = ({ closed, failed }: Total) => [
  ...(closed ? [`${closed} open with none of the keys, and stay as they are: see stoa doctor`] : []),
  ...failed.map(({ storeId, environment, error }) => `${storeId} ${environment} could not be read: ${error}`),
]

async function rotate({ new: makesNew }: { new?: boolean }, command: Command) {
  const total = await progress((tell) =>
    withRegistry(async (registry, config) => {
      if (makesNew && config.secretKey !== null)
        throw new Error(
          'SECRET_KEY is set: set it to a new one, SECRET_KEY_OLD to the one before, restart the servers, then run this without --new',
        )
      if (makesNew) {
        addKey(config.dataDir)
        // Servers that run seal with it from now on at the latest: what they have sealed before is found below.
        await Bun.sleep(3 * LOOK_MS)
      }
      const keys = keysOf(config)
      return through(
        registry,
        (storeId, environment) => withDatabase(registry, storeId, environment, (store) => sealAnew(store, { storeId, environment }, keys)),
        tell,
      )
    }),
  )
  const { newest, old, closed, failed } = total
  print(command, { sealedAnew: old, current: newest, closed, failed }, [
    `${old} sealed anew, ${newest} had the newest key already`,
    ...told(total),
  ])
  if (failed.length) process.exitCode = 1
}

async function forget(_: object, command: Command) {
  const forgotten = await withRegistry(async (registry, config) => {
    if (config.secretKey !== null) throw new Error('SECRET_KEY is set: take SECRET_KEY_OLD away and restart the servers')
    const keys = keysOf(config)
    const total = await through(registry, (storeId, environment) =>
      withDatabase(registry, storeId, environment, (store) => sealingsOf(store.read, { storeId, environment }, keys)),
    )
    if (total.old) throw new Error(`${total.old} values need a key before the newest: run stoa secrets rotate first`)
    if (total.failed.length) throw new Error(told(total)[0])
    return forgetKeys(config.dataDir)
  })
  print(command, { forgotten }, `${forgotten} keys before the newest are forgotten: links and cookies that they sealed open no more`)
}

/** Adds `secrets` to the command line. */
export function secretCommands(program: Command) {
  const secrets = program.command('secrets').description('the key that seals credentials, tokens and links')
  secrets
    .command('rotate')
    .description('seal with the newest key what one before it has sealed; it may be broken off, and run again')
    .option('--new', 'first make a new key in DATA_DIR/secret.key, where SECRET_KEY is not set')
    .action(rotate)
  secrets.command('forget').description('remove the keys before the newest from DATA_DIR/secret.key').action(forget)
}
