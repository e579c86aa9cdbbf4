/** The visible list of what a store's databases keep sealed, and how it is sealed anew once there is another key. */
import { sql } from 'drizzle-orm'
import type { Reader } from '../db/driver.ts'
import type { Environment, Handle } from '../db/open.ts'
import type { Carrier } from '../db/store/addons.ts'
import { placeOf as placeOfLink } from './builder/feedback/session.ts'
import { placeOf as placeOfAddon } from './carriers/addon.ts'
import { placeOf as placeOfSeat } from './events/seat.ts'
import { placeOf as placeOfAnswer } from './http/idempotency.ts'
import type { Owner } from './outside/files.ts'
import { isSealed, type Secrets } from './outside/secrets.ts'
import { placeOf as placeOfWebhook } from './store/webhooks/webhook.ts'

interface SealedColumns {
  table: string
  columns: readonly string[]
  /** Columns that name the place. */
  named: readonly string[]
  place(owner: Owner, named: readonly string[], column: string): string
}

/** Everything that is stored sealed. What leaves sealed and comes back, such as links and cookies, opens with the keys before alone. */
const SEALED: readonly SealedColumns[] = [
  {
    ...{ table: 'addons', columns: ['live', 'test'], named: ['name'] },
    place: (_, [name], column) => placeOfAddon(name as Carrier, column as 'live' | 'test'),
  },
  { table: 'webhooks', columns: ['secret', 'previous_secret'], named: ['id'], place: (owner, [id]) => placeOfWebhook(owner, id!) },
  { table: 'seats', columns: ['token'], named: ['id'], place: (_, [id]) => placeOfSeat(id!) },
  { table: 'feedback_sessions', columns: ['token'], named: ['id'], place: ({ storeId }) => placeOfLink(storeId) },
  {
    ...{ table: 'idempotency_keys', columns: ['body'], named: ['key_id', 'path', 'idempotency_key'] },
    place: (_, [keyId, path, key]) => placeOfAnswer({ keyId: keyId!, path: path!, key: key! }),
  },
]
/** Rows that are read at once, and sealed anew in one transaction. */
const AT_ONCE = 200

interface Found {
  rowid: number
  column: string
  sealed: string
  place: string
}

/** All that is sealed in one column list, some at a time, in the order of their rows. */
async function* sealedIn(db: Reader, owner: Owner, { table, columns, named, place }: SealedColumns): AsyncGenerator<Found[]> {
  const listed = sql.join(
    ['rowid', ...named, ...columns].map((name) => sql.identifier(name)),
    sql`, `,
  )
  for (let after = 0; ;) {
    const rows = await db.all<[number, ...(string | null)[]]>(
      sql`select ${listed} from ${sql.identifier(table)} where rowid > ${after} order by rowid limit ${AT_ONCE}`,
    )
    if (!rows.length) return
    yield rows.flatMap(([rowid, ...values]) =>
      columns.flatMap((column, i) => {
        const sealed = values[named.length + i] ?? null
        return sealed === null || !isSealed(sealed) ? [] : [{ rowid, column, sealed, place: place(owner, values as string[], column) }]
      }),
    )
    after = rows.at(-1)![0]
  }
}

/** How much is sealed with the newest key, with one before it, and with a key that nobody has. */
export interface Sealings {
  newest: number
  old: number
  closed: number
}

/** The keys: the newest alone, and all that are known. */
export interface Keys {
  newest: Secrets
  all: Secrets
}

/** Looks at all that is sealed in a store's database, and hands on what an old key has sealed. */
async function look(db: Reader, owner: Owner, { newest, all }: Keys, each: (table: string, old: Found[]) => Promise<unknown>) {
  const counted: Sealings = { newest: 0, old: 0, closed: 0 }
  for (const columns of SEALED)
    for await (const some of sealedIn(db, owner, columns)) {
      const old: Found[] = []
      for (const one of some)
        if (newest.open(one.sealed, one.place) !== null) counted.newest++
        else if (all.open(one.sealed, one.place) === null) counted.closed++
        else old.push(one)
      counted.old += old.length
      if (old.length) await each(columns.table, old)
    }
  return counted
}

/** What keys the sealed values of a database need. */
export const sealingsOf = (db: Reader, owner: Owner, keys: Keys): Promise<Sealings> => look(db, owner, keys, async () => {})

/**
 * Seals anew, with the newest key, what one before it has sealed; a value that was changed meanwhile stays as it is now. It may be broken off
 * at any time: what is done is done, and all of it opens as long as both keys are known. The counts are of what was found.
 */
export const sealAnew = (store: Handle, owner: { storeId: string; environment: Environment }, keys: Keys): Promise<Sealings> =>
  look(store.read, owner, keys, (table, old) =>
    store.write(async (tx) => {
      for (const { rowid, column, sealed, place } of old) {
        const again = keys.newest.seal(keys.all.open(sealed, place), place)
        const at = sql.identifier(column)
        await tx.run(sql`update ${sql.identifier(table)} set ${at} = ${again} where rowid = ${rowid} and ${at} = ${sealed}`)
      }
    }),
  )
