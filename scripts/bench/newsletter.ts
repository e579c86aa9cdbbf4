/** A newsletter to many: mails per second against nodemailer alone, and the memory that it takes. */
import { sql } from 'drizzle-orm'
import { openRegistry } from '../../db/control/open.ts'
import { databaseName, openDatabase, type Handle, type Location } from '../../db/open.ts'
import { newStore } from '../new-store.ts'
import { callerOf } from './call.ts'
import { environment, memoryOf, startStoa } from './servers.ts'
import { smtpSink, type Sink } from './smtp-sink.ts'

const FLOOR_MAILS = 2_000
const POLL_MS = 100
const SEND_MAX_MS = 120_000
const AT_ONCE = 5_000

export interface Mailed {
  recipients: number
  seconds: number
  perSecond: number
  /** Of the floor's mails per second. */
  ratio: number
  /** The most that the process had while it sent, in megabytes. */
  memoryMb: number
}

/** Writes active subscribers into a store, whose rows and counts are as its API would have made them. */
export async function addSubscribers(store: Handle, count: number) {
  for (let from = 0; from < count; from += AT_ONCE) {
    const now = new Date().toISOString()
    await store.write(async (tx) => {
      const rows = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => [
        Bun.randomUUIDv7(),
        `reader${from + i}@example.com`,
        `token-${from + i}`,
      ])
      await tx.run(sql`insert into subscribers (id, email, status, token, subscribed_at, created_at, updated_at)
        select value ->> 0, value ->> 1, 'active', value ->> 2, ${now}, ${now}, ${now} from json_each(${JSON.stringify(rows)})`)
      await tx.run(
        sql`insert into counters values ('subscribers active', ${rows.length}) on conflict (name) do update set value = value + excluded.value`,
      )
    })
  }
}

/** A store that may send, with subscribers; its key. */
export async function mailingStore(location: Location, subscribers: number): Promise<{ key: string; storeId: string }> {
  const { registry, close } = await openRegistry(location)
  const { id, keys } = await newStore(registry, { name: 'Mailing', plan: 'scale', currency: 'usd', locale: 'en-US', aiBuilt: false })
  const store = await openDatabase(location, databaseName(id, 'live'), 'store')
  const email = { fromName: null, fromAddress: 'hello@shop.example', outboundEnabled: true, domain: 'shop.example' }
  await store.write((tx) =>
    tx.run(
      sql`update settings set email_domain_verified = 1, email = ${JSON.stringify(email)}, address = ${JSON.stringify({ line1: 'Main Street 1', city: 'Portland' })}`,
    ),
  )
  await addSubscribers(store, subscribers)
  store.close()
  close()
  return { key: keys.admin, storeId: id }
}

async function floorPerSecond({ port }: Sink): Promise<number> {
  const child = Bun.spawn([process.execPath, 'scripts/bench/floor-mail.ts', String(port), String(FLOOR_MAILS)], {
    cwd: new URL('../../', import.meta.url).pathname,
    env: environment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return Number(await new Response(child.stdout).text())
}

/** Sends one newsletter to so many; throws unless each of them got it once. */
export async function sendNewsletter(dataDir: string, recipients: number): Promise<Mailed> {
  const sink = smtpSink()
  const { key } = await mailingStore({ url: `file:${dataDir}/{name}.db` }, recipients)
  const stoa = await startStoa(dataDir, { SMTP_URL: `smtp://127.0.0.1:${sink.port}` })
  const call = callerOf(stoa, key)
  try {
    const floor = await floorPerSecond(sink)
    sink.taken.clear()
    const content = 'Hello!\n\n'.concat('Three new cups are here, and a saucer for each of them. '.repeat(6))
    const { id } = await call('POST', '/newsletters', { subject: 'New in the shop', content })
    const started = performance.now()
    await call('POST', `/newsletters/${id}/send`)
    let memoryMb = 0
    for (let status = 'sending'; status === 'sending';) {
      await Bun.sleep(POLL_MS)
      ;({ status } = await call('GET', `/newsletters/${id}`))
      memoryMb = Math.max(memoryMb, await memoryOf(stoa))
      if (performance.now() - started > SEND_MAX_MS) throw new Error(`the newsletter is not sent after ${SEND_MAX_MS} ms`)
    }
    const seconds = (performance.now() - started) / 1_000
    const once = [...sink.taken.values()].filter((times) => times === 1).length
    if (once !== recipients || sink.taken.size !== recipients) throw new Error(`${once} of ${recipients} recipients got it once`)
    return { recipients, seconds, perSecond: recipients / seconds, ratio: recipients / seconds / floor, memoryMb }
  } finally {
    await stoa.stop()
    sink.stop()
  }
}
