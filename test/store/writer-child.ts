/**
 * A second process for writer.test.ts: opens the database at `argv[2]` and writes `argv[3]` events named `argv[4]`, at most 50 at a
 * time, telling each on standard output once it is acknowledged.
 */
import { openDatabase } from '../../db/open.ts'
import { outbox } from '../../db/store/store.ts'

const [, , url, count, name] = process.argv as [string, string, string, string, string]
const store = await openDatabase({ url: `file:${url}` }, 'store', 'store')
process.stdout.write('ready\n')
let next = 0
async function work() {
  while (next < Number(count)) {
    const id = `${name}-${next++}`
    await store.write(async (tx) => {
      await tx.insert(outbox).values({ id, event: name, payload: {}, createdAt: new Date().toISOString() })
    })
    process.stdout.write(`${id}\n`)
  }
}
await Promise.all(Array.from({ length: 50 }, work))
