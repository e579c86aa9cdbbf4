/** `stoa key …`: API keys. */
import { Command } from 'commander'
import { isScope, SCOPES } from '../../db/control/scopes.ts'
import { checked, NAME, print, requireStore, table, withRegistry } from './context.ts'

const list = (text: string) => [
  ...new Set(
    text
      .split(',')
      .map((scope) => scope.trim())
      .filter(Boolean),
  ),
]

/** At least one scope, all of them known: an empty list would look like a key without limits. */
const scopes = checked((text) => {
  const unknown = list(text).filter((scope) => !isScope(scope))
  if (unknown.length) return `There is no scope ${unknown.join(', ')}. The scopes are ${SCOPES.join(', ')}.`
  return list(text).length ? null : `Name at least one of ${SCOPES.join(', ')}; without --scopes the key has no limits.`
}, list)
/** The option may be given again, for more scopes. */
const SCOPE_LIST = (text: string, before: string[] = []) => [...new Set([...before, ...scopes(text)])]

interface CreateOptions {
  store: string
  name: string
  scopes?: string[]
  staging?: boolean
}

async function create(options: CreateOptions, command: Command) {
  const { row, secret } = await withRegistry(async (registry) =>
    registry.createKey({
      storeId: (await requireStore(registry, options.store)).id,
      name: options.name,
      environment: options.staging ? 'sandbox' : 'live',
      scopes: options.scopes ?? null,
    }),
  )
  print(command, { id: row.id, key: secret }, [`key  ${secret}`, `id   ${row.id}`, 'The key is shown this once.'])
}

async function show(options: { store: string }, command: Command) {
  const keys = await withRegistry(async (registry) => registry.listKeys((await requireStore(registry, options.store)).id))
  const data = keys.map(({ id, name, environment, scopes, createdAt, revokedAt }) => ({
    id,
    name,
    environment,
    scopes,
    createdAt,
    revokedAt,
  }))
  print(
    command,
    { data, meta: { count: data.length } },
    table(
      ['ID', 'ENVIRONMENT', 'STATE', 'NAME', 'SCOPES'],
      data.map((key) => [key.id, key.environment, key.revokedAt ? 'revoked' : 'valid', key.name, key.scopes?.join(',') ?? 'all']),
    ),
  )
}

async function revoke(id: string, _: object, command: Command) {
  const key = await withRegistry((registry) => registry.revokeKey(id.toLowerCase()))
  if (!key) throw new Error(`there is no key ${id}: see key list`)
  print(command, { id: key.id, revokedAt: key.revokedAt }, `revoked ${key.name} (${key.id})`)
}

/** Adds `key` to the command line. */
export function keyCommands(program: Command) {
  const key = program.command('key').description('API keys')
  key
    .command('create')
    .description('make a key; it is shown this once')
    .requiredOption('--store <id>', 'the store that it opens')
    .option('--name <name>', 'what it is for', NAME, 'key')
    .option('--scopes <list>', 'what it may do, separated by commas or by giving it again (everything)', SCOPE_LIST)
    .option('--staging', "it opens the store's sandbox")
    .action(create)
  key.command('list').description('the keys of a store').requiredOption('--store <id>', 'the store').action(show)
  key.command('revoke <id>').description('make a key useless, at once').action(revoke)
}
