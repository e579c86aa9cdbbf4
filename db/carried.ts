/** The data of a store's database that outlive its restore: numbers that were given, mails that have left, and who wants no more of them. */
import type { FileConnection } from './connection.ts'
import { higher, leapt, numbersIn, type Given } from './numbers.ts'

type Row = Record<string, unknown>

export interface Carried {
  /** Null: not known. */
  numbers: Given | null
  /** The subscribers who have left, as rows. */
  unsubscribed: Row[]
  /** The invitations that are open; null: not known. */
  invitations: string[] | null
  /** The secret from which the links of subscribers are made. */
  mailSecret: string | null
  /** The domain that the store has proven to send mail for, empty for none in particular; null: it has proven none. */
  provenDomain: string | null
  /** How often the list of subscribers has changed. */
  listChanges: number
  /** By table, rows that the restored store is to have as they are: a mail that has left leaves no second time, and who said no has. */
  mails: Record<(typeof MAILS)[number][0], Row[]>
}

/** The tables of mails, and which of their rows are carried over. */
const MAILS = [
  ['sent_mails', 'true'],
  ['unwanted_mails', 'true'],
  ['availability_notifications', "status NOT IN ('pending', 'waiting')"],
] as const
const NO_MAILS: Carried['mails'] = { sent_mails: [], unwanted_mails: [], availability_notifications: [] }

/** The data that are carried over from a file that is not there, or that nobody can read. */
export const NOTHING: Carried = {
  numbers: null,
  unsubscribed: [],
  invitations: null,
  mailSecret: null,
  provenDomain: null,
  listChanges: 0,
  mails: NO_MAILS,
}

/** Counts the changes of the list of subscribers: see `api/marketing/newsletters/tally.ts`. */
const LIST = 'subscribers '

/** The data of a database that are to outlive its restore; of a damaged one, those that can be read. */
export function carriedOver(connection: FileConnection, isDamaged = false): Carried {
  const read = <K extends keyof Carried>(name: K, from: () => Carried[K]): Carried[K] => {
    try {
      return from()
    } catch (error) {
      if (!isDamaged) throw error
      return NOTHING[name]
    }
  }
  const one = (text: string) => connection.row(text, [])?.[0]
  return {
    numbers: read('numbers', () => numbersIn(connection)),
    unsubscribed: read('unsubscribed', () => rowsOf(connection, 'subscribers', "status = 'unsubscribed'")),
    invitations: read('invitations', () => connection.rows('SELECT id FROM team_invitations', []).map(([id]) => id as string)),
    mailSecret: read('mailSecret', () => (one('SELECT mail_secret FROM settings') ?? null) as string | null),
    provenDomain: read('provenDomain', () => (one(`SELECT ${DOMAIN} FROM settings WHERE email_domain_verified`) ?? null) as string | null),
    listChanges: read('listChanges', () => Number(one(`SELECT value FROM counters WHERE name = '${LIST}changes'`) ?? 0)),
    mails: read('mails', () => {
      const all = MAILS.map(([table, where]) => [table, columnsOf(connection, table).length ? rowsOf(connection, table, where) : []])
      return Object.fromEntries(all) as Carried['mails']
    }),
  }
}

function rowsOf(connection: FileConnection, table: string, where: string): Row[] {
  const columns = columnsOf(connection, table)
  const rows = connection.rows(`SELECT ${columns.join(', ')} FROM ${table} WHERE ${where}`, [])
  return rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i]])))
}

const columnsOf = (connection: FileConnection, table: string) =>
  connection.rows(`SELECT name FROM pragma_table_info('${table}')`, []).map(([name]) => name as string)

/**
 * Gives a restored database what the one before it knew; `least`: numbers that are known from elsewhere. Where the one before can't
 * tell its numbers, those that it may have given since are passed over.
 */
export function carryOver(connection: FileConnection, before: Carried, least: Given, now: Date) {
  const given = before.numbers ? higher(before.numbers, least) : leapt(higher(numbersIn(connection), least))
  for (const [name, value] of Object.entries(given))
    connection.run('INSERT INTO counters (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)', [
      name,
      value,
    ])
  if (before.mailSecret !== null) connection.run('UPDATE settings SET mail_secret = coalesce(mail_secret, ?)', [before.mailSecret])
  // An invitation is a key to the team: one that was withdrawn or used since the backup stays so.
  if (before.invitations)
    connection.run('DELETE FROM team_invitations WHERE id NOT IN (SELECT value FROM json_each(?))', [JSON.stringify(before.invitations)])
  keepUnsubscribed(connection, before.unsubscribed, now)
  for (const [table] of MAILS) keepRows(connection, table, before.mails[table])
  connection.run("UPDATE availability_notifications SET status = 'unknown' WHERE status = 'sending'", [])
  recount(connection, before.listChanges)
}

const DOMAIN = "coalesce(email ->> 'domain', '')"
/** Lets a store send mail for the domain that it has proven to be its own, whatever a backup says: any other is to be verified again. */
export function keepProof(connection: FileConnection, provenDomain: string | null) {
  connection.run(`UPDATE settings SET email_domain_verified = 0 WHERE email_domain_verified AND ${DOMAIN} IS NOT ?`, [provenDomain])
}

/** Keeps those away who have unsubscribed: those whom the backup has as subscribers, and those whom it does not know. */
function keepUnsubscribed(connection: FileConnection, left: Row[], now: Date) {
  if (!left.length) return
  const rows = JSON.stringify(left)
  connection.run(
    `UPDATE subscribers SET status = 'unsubscribed', unsubscribed_at = coalesce(gone.value ->> 'unsubscribed_at', ?2), updated_at = ?2
     FROM json_each(?1) AS gone WHERE subscribers.email = gone.value ->> 'email' AND subscribers.status <> 'unsubscribed'`,
    [rows, now.toISOString()],
  )
  const columns = columnsOf(connection, 'subscribers')
  connection.run(
    `INSERT OR IGNORE INTO subscribers (${columns.join(', ')})
     SELECT ${columns.map((name) => `value ->> '${name}'`).join(', ')} FROM json_each(?)`,
    [rows],
  )
}

/** Has rows as they were, instead of those with the same key; what refers to something that is not there is left out. */
function keepRows(connection: FileConnection, table: string, rows: readonly Row[]) {
  if (!rows.length) return
  const columns = columnsOf(connection, table)
  const known = table === 'availability_notifications' ? "WHERE value ->> 'variant_id' IN (SELECT id FROM variants)" : ''
  connection.run(
    `INSERT OR REPLACE INTO ${table} (${columns.join(', ')})
     SELECT ${columns.map((name) => `value ->> '${name}'`).join(', ')} FROM json_each(?) ${known}`,
    [JSON.stringify(rows)],
  )
}

/** Counts the subscribers anew. The count of changes goes on, or servers would take what they know of the list for what it is now. */
function recount(connection: FileConnection, listChanges: number) {
  connection.exec(`
    DELETE FROM counters WHERE name IN ('${LIST}pending', '${LIST}active', '${LIST}unsubscribed');
    INSERT INTO counters (name, value) SELECT '${LIST}' || status, count(*) FROM subscribers GROUP BY status;
    INSERT INTO counters (name, value) VALUES ('${LIST}changes', ${listChanges + 1})
      ON CONFLICT (name) DO UPDATE SET value = max(value, ${listChanges}) + 1`)
}
