/** What visitors send in, looked at before it is kept: the same text twice is refused, all else that is odd is told to moderators. */
import { and, eq, gt } from 'drizzle-orm'
import type { Db } from '../../../db/driver.ts'
import { visitorTexts, type Signals } from '../../../db/store/visitors.ts'
import type { Call } from '../../http/route.ts'
import { Named, OneOf, Text, Type } from '../../http/schema.ts'
import { isEmail, normalizeEmail } from '../../values/email.ts'
import { conflict, wrong } from '../../values/refusal.ts'
import { formOf } from './form-token.ts'
import { normal } from '../../values/compared.ts'

/** So long the same text of the same address is refused. */
export const REPEAT_MS = 3_600_000

/** The fields that a form may send beside its own. */
export const formInput = {
  _form: Type.Optional(Text(0, 500, { description: 'The `token` of `GET /forms/token`' })),
  _url: Type.Optional(Text(0, 2_000, { description: 'A field that people do not see' })),
}

export const SignalsShape = Named('Signals', {
  links: Type.Integer({ description: 'How many links there are in the text' }),
  honeypot: Type.Boolean({ description: 'The field that people do not see was filled in' }),
  repeated: Type.Boolean({ description: 'The same text came before within an hour: from another address, or about something else' }),
  form: OneOf(['none', 'valid', 'old', 'wrong', 'fast'], {
    description: 'The token of the form: none was sent, it is valid, older than a day, none of this store, or came back in under 3 seconds',
  }),
})

const LINK =
  /(?:https?:\/\/|www\.)[^\s<>\"']+|\b(?:[a-z0-9-]{1,63}\.){1,4}(?:com|net|org|info|biz|ru|cn|xyz|top|shop|site|online|io|link|click)\b/gi
/** How many links there are in a text. */
export const linksIn = (text: string) => text.match(LINK)?.length ?? 0

interface Submission {
  /** What it is, and what it is about: the same words about something else are another text. */
  kind: string
  about: string
  email: string
  text: string
}
type SubmissionCall = Pick<Call, 'services' | 'session' | 'clock' | 'now'> & { body: { _form?: string; _url?: string } }

const hashOf = (...parts: string[]) => new Bun.CryptoHasher('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
/** A text as it is compared: neither case nor spaces make another one of it. */
export const compared = (text: string) => normal(text, 'NFKC').toLowerCase().replace(/\s+/g, ' ').trim()

/** The text of a field; refuses one that is blank. */
export function written(body: object, field: string): string {
  const text = ((body as Record<string, unknown>)[field] as string).trim()
  if (!text) throw wrong(field, 'must not be blank')
  return text
}

/** The address of whoever writes, as addresses are compared. */
export function writer({ email }: { email: string }): string {
  if (!isEmail(email.trim())) throw wrong('email', 'must be an email address')
  return normalizeEmail(email)
}

/** Looks at a text in the transaction that keeps it: refuses with 409 what the same address has sent within the hour; tells what is odd. */
export async function screen(tx: Db, call: SubmissionCall, { kind, about, email, text }: Submission): Promise<Signals> {
  const same = compared(text)
  const [hash, textHash] = [hashOf(kind, about, email, same), hashOf(kind, same)]
  const since = new Date(Date.parse(call.now) - REPEAT_MS).toISOString()
  const known = await tx
    .select({ hash: visitorTexts.hash })
    .from(visitorTexts)
    .where(and(eq(visitorTexts.textHash, textHash), gt(visitorTexts.createdAt, since)))
    .limit(100)
  const isKnown = (await tx.$count(visitorTexts, and(eq(visitorTexts.hash, hash), gt(visitorTexts.createdAt, since)))) > 0
  if (isKnown) throw conflict('the same text came from this address within the hour')
  const row = { hash, textHash, createdAt: call.now }
  await tx.insert(visitorTexts).values(row).onConflictDoUpdate({ target: visitorTexts.hash, set: row })
  return {
    links: linksIn(text),
    honeypot: Boolean(call.body._url),
    repeated: known.length > 0,
    form: formOf(call, call.body._form),
  }
}
