/** `stoa key …`: API keys. */
import { Command } from 'commander'
import { parseInstant, utc } from '../../api/values/time.ts'
import { hasExpired, type KeyRow } from '../../db/control/keys.ts'
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

/** When a key ends. */
const EXPIRES = checked((text) => {
  const at = parseInstant(text)
  return at !== null && at > Date.now() ? null : 'It is no date and time in the future with an offset, such as 2030-06-01T00:00:00Z.'
}, utc)

interface CreateOptions {
  store: string
  name: string
  scopes?: string[]
  staging?: boolean
  expires?: string
}

async function create(options: CreateOptions, command: Command) {
  const { row, secret } = await withRegistry(async (registry) =>
    registry.createKey({
      storeId: (await requireStore(registry, options.store)).id,
      name: options.name,
      environment: options.staging ? 'sandbox' : 'live',
      scopes: options.scopes ?? null,
      expiresAt: options.expires ?? null,
    }),
  )
  print(command, { id: row.id, key: secret }, [`key  ${secret}`, `id   ${row.id}`, 'The key is shown this once.'])
}

const stateOf = (key: KeyRow) => (key.revokedAt ? 'revoked' : hasExpired(key, new Date()) ? 'expired' : 'valid')

async function show(options: { store: string }, command: Command) {
  const keys = await withRegistry(async (registry) => registry.listKeys((await requireStore(registry, options.store)).id))
  const data = keys.map(({ id, name, prefix, environment, scopes, createdAt, lastUsedAt, expiresAt, revokedAt }) => ({
    id,
    name,
    prefix,
    environment,
    scopes,
    createdAt,
    lastUsedAt,
    expiresAt,
    revokedAt,
  }))
  print(
    command,
    { data, meta: { count: data.length } },
    table(
      ['ID', 'PREFIX', 'ENVIRONMENT', 'STATE', 'LAST USED', 'EXPIRES', 'NAME', 'SCOPES'],
      keys.map((key) => [
        key.id,
        key.prefix ?? '',
        key.environment,
        stateOf(key),
        key.lastUsedAt ?? 'never',
        key.expiresAt ?? 'never',
        key.name,
        key.scopes?.join(',') ?? 'all',
      ]),
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
    .option('--expires <instant>', 'when it ends (never)', EXPIRES)
    .action(create)
  key.command('list').description('the keys of a store').requiredOption('--store <id>', 'the store').action(show)
  key.command('revoke <id>').description('make a key useless, at once').action(revoke)
}
