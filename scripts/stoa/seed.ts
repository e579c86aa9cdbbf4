/** `stoa seed`: plausible data for a store. */
import { Option, type Command } from 'commander'
import { KITS, type KitName } from '../seed/kits.ts'
import { seedLooks } from '../seed/looks.ts'
import { AMOUNTS, seedStore, type Amounts } from '../seed.ts'
import { checked, print, requireStore, withLive, withRegistry } from './context.ts'

const MOST = 100_000
const COUNT = checked(
  (text) => (/^\d{1,6}$/.test(text) && Number(text) <= MOST ? null : `It is no whole number from 0 to ${MOST}.`),
  Number,
)

async function seed({ store, products, customers, orders, look }: Amounts & { store: string; look?: KitName }, command: Command) {
  const added = await withRegistry(async (registry) => {
    const { id } = await requireStore(registry, store)
    return withLive(registry, id, async (live) => {
      const added = { id, ...(await seedStore(live, { products, customers, orders })) }
      await live.write((tx) => seedLooks(tx, look ?? null))
      return added
    })
  })
  print(command, added, `added ${added.products} products, ${added.customers} customers and ${added.orders} orders`)
}

/** Adds `seed` to the command line. */
export function seedCommand(program: Command) {
  program
    .command('seed')
    .description('fill a store with plausible data')
    .requiredOption('--store <id>', 'the store')
    .option('--products <n>', 'products to add', COUNT, AMOUNTS.products)
    .option('--customers <n>', 'customers to add', COUNT, AMOUNTS.customers)
    .option('--orders <n>', 'orders of the past 90 days to add', COUNT, AMOUNTS.orders)
    .addOption(new Option('--look <name>', 'the brand kit of a demo shop').choices(Object.keys(KITS)))
    .action(seed)
}
