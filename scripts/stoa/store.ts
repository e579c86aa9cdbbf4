/** `stoa store …`: stores, and their backups. */
import { eq } from 'drizzle-orm'
import { Command, Option } from 'commander'
import { isLocale } from '../../api/values/locales.ts'
import { isCurrency } from '../../api/values/money.ts'
import { isUuid } from '../../api/values/uuid.ts'
import { backupStore } from '../../db/backup.ts'
import { LIMITS, PLANS, type Plan } from '../../api/values/plans.ts'
import { roomOf, setRoom } from '../../db/control/room.ts'
import type { Registry, StoreRow } from '../../db/control/registry.ts'
import { remainsOf, removeRemains } from '../../db/remains.ts'
import { restoreStore, wouldReplace, type Decided } from '../../db/restore.ts'
import { settings } from '../../db/store/store.ts'
import { ensureProject, projectFolder } from '../../api/builder/project/workspace.ts'
import { newStore } from '../new-store.ts'
import { checked, NAME, print, requireStore, servicesOf, table, typedPath, withDatabase, withLive, withRegistry } from './context.ts'

const plan = () => new Option('--plan <plan>', 'what the store pays for').choices(PLANS)
const SLUG = checked((text) =>
  /^[a-z0-9]+(-[a-z0-9]+)*$/.test(text) && text.length <= 120 && !isUuid(text)
    ? null
    : 'A slug has 1 to 120 characters: a-z, 0-9 and single hyphens between them, and is not shaped like an id.',
)
const CURRENCY = checked(
  (text) => (isCurrency(text) ? null : 'It is no currency of ISO 4217, such as usd, eur or jpy.'),
  (text) => text.toLowerCase(),
)
const LOCALE = checked((text) => (isLocale(text) ? null : 'It is no locale, such as en-US or pl-PL.'))
const FILE = checked((text) => (text.trim() ? null : 'Name a file.'))

/** A number, or what the plan has. */
const QUOTA = checked(
  (text) => (text === 'plan' || /^\d{1,9}$/.test(text) ? null : 'It is neither a whole number nor plan.'),
  (text) => (text === 'plan' ? text : Number(text)),
)

/** The store as the commands print it. */
const facts = ({ id, slug, name, plan, aiBuilt, createdAt }: StoreRow) => ({ id, slug, name, plan, aiBuilt, createdAt })

interface CreateOptions {
  name: string
  slug?: string
  plan: Plan
  currency: string
  locale: string
  aiBuilt?: boolean
}

async function create(options: CreateOptions, command: Command) {
  const { made: created, shop } = await withRegistry(
    async (registry, config) => {
      const made = await newStore(registry, { ...options, aiBuilt: options.aiBuilt ?? false })
      if (!options.aiBuilt) return { made, shop: null }
      const services = await servicesOf(registry, config)
      await ensureProject(services, made.id)
      const { storefronts } = services
      return { made, shop: { project: projectFolder(services, made.id), url: storefronts.urlOf(storefronts.hostOf(made.slug)) } }
    },
    { makes: true },
  )
  print(command, created, [
    `store       ${created.slug} (${created.id})`,
    ...(shop ? [`project     ${shop.project}`, `shop        ${shop.url}, once it is published: stoa publish --store ${created.slug}`] : []),
    'keys, shown this once:',
    ...Object.entries(created.keys).map(([name, key]) => `  ${name.padEnd(10)}  ${key}`),
  ])
}

interface UpdateOptions {
  diskQuotaMb?: number | 'plan'
  buildsPerDay?: number | 'plan'
  plan?: Plan
  aiBuilt?: boolean
  emailDomainVerified?: 'true' | 'false'
}

async function update(idOrSlug: string, options: UpdateOptions, command: Command) {
  if (!Object.keys(options).some((name) => name !== 'json'))
    command.error('error: nothing to change: give --plan, --ai-built, --disk-quota-mb, --builds-per-day or --email-domain-verified')
  const store = await withRegistry(async (registry, config) => {
    const { id } = await requireStore(registry, idOrSlug)
    const { plan, aiBuilt, diskQuotaMb, buildsPerDay } = options
    const quotas = Object.entries({ diskQuotaMb, buildsPerDay }).filter(([, value]) => value !== undefined)
    const change = Object.fromEntries(quotas.map(([name, value]) => [name, value === 'plan' ? null : value]))
    if (quotas.length) await registry.control.write(async (tx) => void (await setRoom(tx, id, change)))
    if (aiBuilt) await ensureProject(await servicesOf(registry, config), id)
    const row =
      plan || aiBuilt
        ? (await registry.updateStore(id, { ...(plan ? { plan } : {}), ...(aiBuilt ? { aiBuilt } : {}) }))!
        : await requireStore(registry, id)
    const room = await roomOf(registry.control.read, id)
    const allowed = {
      diskQuotaMb: room.diskQuotaMb ?? LIMITS[row.plan].diskMb,
      buildsPerDay: room.buildsPerDay ?? LIMITS[row.plan].buildsPerDay,
    }
    return { ...facts(row), ...allowed, emailDomainVerified: await emailDomainVerified(registry, id, options.emailDomainVerified) }
  })
  print(
    command,
    store,
    Object.entries(store).map(([name, value]) => `${name.padEnd(21)}${value}`),
  )
}

/** Sets, when asked to, and reads whether the store may send mail for its domain: its sandbox, where nobody asks DNS, as well. */
async function emailDomainVerified(registry: Registry, storeId: string, value?: 'true' | 'false'): Promise<boolean> {
  const change = { emailDomainVerified: value === 'true', updatedAt: new Date().toISOString() }
  for (const environment of value ? (['sandbox', 'live'] as const) : [])
    await withDatabase(registry, storeId, environment, (store) =>
      store.write(async (tx) => {
        await tx.update(settings).set(change).where(eq(settings.id, 1))
      }),
    )
  return withLive(
    registry,
    storeId,
    async ({ read }) => (await read.select({ verified: settings.emailDomainVerified }).from(settings))[0]!.verified,
  )
}

async function list(_: object, command: Command) {
  const data = (await withRegistry((registry) => registry.listStores())).map(facts)
  print(
    command,
    { data, meta: { count: data.length } },
    table(
      ['ID', 'SLUG', 'PLAN', 'NAME'],
      data.map(({ id, slug, plan, name }) => [id, slug, plan, name]),
    ),
  )
}

async function remove(idOrSlug: string, options: { yes?: boolean }, command: Command) {
  if (!options.yes) command.error('error: this removes the store, its keys and all of its data for good: add --yes')
  const { id, slug } = await withRegistry(
    async (registry, config) => {
      const id = idOrSlug.toLowerCase()
      const known = (await registry.store(id)) ?? (await registry.storeBySlug(idOrSlug))
      // What a removal has left that was cut off, or a registry that is lost, has an id alone.
      const store = known ?? (isUuid(id) && (await remainsOf(registry, id, config)) ? { id, slug: 'what was left of a store' } : null)
      if (!store) throw new Error(`there is no store ${idOrSlug}: see store list`)
      await registry.deleteStore(store.id, undefined, () => removeRemains(registry.location, store.id, config))
      return store
    },
    { mends: true },
  )
  print(command, { ok: true, deleted: 1, id }, `deleted ${slug} (${id})`)
}

async function backup(idOrSlug: string, options: { to: string }, command: Command) {
  const file = typedPath(options.to)
  const { store, createdAt, parts } = await withRegistry(async (registry, config) =>
    backupStore(registry, (await requireStore(registry, idOrSlug)).id, file, config),
  )
  print(
    command,
    { id: store.id, slug: store.slug, file, createdAt, parts },
    `${store.slug} (${store.id}) is backed up to ${file}: ${parts.live.bytes + parts.sandbox.bytes} bytes`,
  )
}

/** The options of `store update` that make a store what a backup says of it; null when it is that. */
function unlike(says: Decided, is: Decided): string | null {
  const options = [...(says.plan === is.plan ? [] : [` --plan ${says.plan}`]), ...(says.aiBuilt && !is.aiBuilt ? [' --ai-built'] : [])]
  return options.length ? options.join('') : null
}

interface RestoreOptions extends Partial<Decided> {
  from: string
  yes?: boolean
}

async function restore(idOrSlug: string, options: RestoreOptions, command: Command) {
  const file = typedPath(options.from)
  const restored = await withRegistry(
    async (registry, config) => {
      const id = (await registry.storeBySlug(idOrSlug))?.id ?? idOrSlug.toLowerCase()
      if (!options.yes && (await wouldReplace(registry, id))) return id
      const { plan, aiBuilt } = options
      return restoreStore(registry, id, { file, place: config, decided: { ...(plan && { plan }), ...(aiBuilt && { aiBuilt }) } })
    },
    { makes: true, mends: true },
  )
  if (typeof restored === 'string')
    return command.error(`error: this replaces what the store ${restored} has now by what ${file} has: add --yes`)
  const { setAside, manifest, store } = restored
  const { createdAt } = manifest
  const { id, slug, plan, aiBuilt } = store
  const other = unlike(manifest.store, store)
  print(command, { id, slug, plan, aiBuilt, file, createdAt, setAside }, [
    `${slug} (${id}) is as it was at ${createdAt}`,
    ...(other ? [`its plan is ${plan}: no backup decides that. What this one says is set by: stoa store update ${slug}${other}`] : []),
    ...setAside.map((path) => `what could not be used is kept as ${path}`),
  ])
}

/** Adds `store` to the command line. */
export function storeCommands(program: Command) {
  const store = program.command('store').description('stores')
  store
    .command('create')
    .description('make a store; its keys are shown this once')
    .requiredOption('--name <name>', 'what it is called', NAME)
    .option('--slug <slug>', 'its name in URLs (made from the name)', SLUG)
    .addOption(plan().default('starter'))
    .option('--currency <code>', 'what it sells in', CURRENCY, 'usd')
    .option('--locale <locale>', 'its language and region', LOCALE, 'en-US')
    .option('--ai-built', 'it was made by a site builder')
    .action(create)
  store
    .command('update <id>')
    .description('change what the platform, not the merchant, decides')
    .addOption(plan())
    .option('--ai-built', 'it was made by a site builder')
    .option('--disk-quota-mb <n>', 'how much it may keep, in MB, or plan: what its plan has', QUOTA)
    .option('--builds-per-day <n>', 'publishes and previews in 24 hours, or plan', QUOTA)
    .addOption(new Option('--email-domain-verified <boolean>', 'whether it may send mail for its domain').choices(['true', 'false']))
    .action(update)
  store.command('list').description('all stores').action(list)
  store.command('delete <id>').description('remove a store and all of its data').option('--yes', 'I mean it').action(remove)
  store
    .command('backup <id>')
    .description('write a store to a file, while it is in use')
    .requiredOption('--to <file>', 'the file to write', FILE)
    .action(backup)
  store
    .command('restore <id>')
    .description('make a store what it was when a backup was made')
    .requiredOption('--from <file>', 'the file to read', FILE)
    .addOption(plan())
    .option('--ai-built', 'it was made by a site builder')
    .option('--yes', 'I mean it: what the store has now is replaced')
    .action(restore)
}
