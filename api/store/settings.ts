/** `/settings`: what a merchant decides about the store (document 3, Store, settings, team, keys). */
import { eq } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { coupons } from '../../db/store/marketing.ts'
import { settings as table } from '../../db/store/store.ts'
import { announce } from '../../db/writer.ts'
import { hostname } from '../values/hostname.ts'
import { isLocale } from '../values/locales.ts'
import { isCurrency } from '../values/money.ts'
import { wrong } from '../values/refusal.ts'
import { settingsIn } from '../http/call.ts'
import { resource, type Settings as Stored } from '../http/route.ts'
import { enqueueBy } from '../jobs/queue.ts'
import { UNPAID } from './unpaid.ts'
import { timeZoneOf } from '../values/time.ts'
import { lookUp, proofOf, type Lookup } from './email-domain.ts'
import { groups, NO_REVIEW_REQUEST, Settings, SettingsPatch, view, type Patch } from './settings-shape.ts'

/** More languages than any store speaks. */
const LANGUAGES_MAX = 200

/** Text without space around it; a blank one clears the field, as null does. */
const tidied = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, typeof value === 'string' ? value.trim() || null : value])) as T

/** The settings as `patch` makes them; `token` is the proof of a domain that is new. Refuses what may not be so. */
function changed(stored: Stored, patch: Patch, token: string): Partial<Stored> {
  const { name, address, enabledLanguages, enabledCurrencies, email, ...rest } = patch
  const next: Partial<Stored> = { ...(rest as Partial<Stored>) }
  for (const group of Object.keys(groups) as (keyof typeof groups)[])
    if (patch[group]) next[group] = { ...(stored[group] ?? NO_REVIEW_REQUEST), ...patch[group] } as never
  if (name !== undefined) next.name = name
  if (patch.timezone !== undefined) {
    const timezone = timeZoneOf(patch.timezone)
    if (!timezone) throw wrong('timezone', 'must be the IANA name of a time zone, such as Europe/Warsaw')
    next.timezone = timezone
  }
  if (address) next.address = { ...stored.address, ...tidied(address), ...(address.country && { country: address.country.toUpperCase() }) }
  if (enabledLanguages || patch.defaultLanguage) next.enabledLanguages = withLanguages(stored, enabledLanguages, patch.defaultLanguage)
  if (enabledCurrencies) next.enabledCurrencies = withBase(stored.currency, enabledCurrencies)
  if (email) {
    next.email = { ...stored.email, ...tidied(email) }
    if (email.domain) next.email.domain = hostname(email.domain)
    if (email.domain && !next.email.domain) throw wrong('email.domain', 'must be a host name, without protocol or path')
    if (next.email.domain !== stored.email.domain)
      Object.assign(next, { emailDomainVerified: false, emailDomainToken: token, emailDomainCheck: null })
  }
  return next
}

function withLanguages(
  stored: Stored,
  given: Record<string, boolean> = {},
  defaultLanguage = stored.defaultLanguage,
): Record<string, boolean> {
  const unknown = Object.keys(given).find((locale) => !isLocale(locale))
  if (unknown !== undefined) throw wrong(['enabledLanguages', unknown], 'is not a supported locale')
  const next = { ...stored.enabledLanguages, ...given }
  if (Object.keys(next).length > LANGUAGES_MAX) throw wrong('enabledLanguages', `must have at most ${LANGUAGES_MAX} entries`)
  if (next[stored.locale] !== true) throw wrong(['enabledLanguages', stored.locale], 'the base locale stays enabled')
  if (next[defaultLanguage] !== true) throw wrong('defaultLanguage', 'must be an enabled language')
  return next
}

function withBase(base: string, given: string[]): string[] {
  const unknown = given.findIndex((code) => !isCurrency(code))
  if (unknown >= 0) throw wrong(['enabledCurrencies', String(unknown)], 'is not a currency of ISO 4217')
  const codes = given.map((code) => code.toLowerCase())
  return [...new Set(codes.includes(base) ? codes : [base, ...codes])]
}

/** The result of looking up the email domain under a token. */
type Checked = { token: string; check: NonNullable<Stored['emailDomainCheck']> }

/** Refuses a welcome offer whose coupon is not there; one that is switched off may outlive its coupon. */
async function checkOffer(tx: Db, next: Stored['welcomeOffer'], given: Patch['welcomeOffer']) {
  if (next.enabled && next.couponId === null) throw wrong('welcomeOffer.couponId', 'an enabled offer needs a coupon')
  if (!next.enabled && !given?.couponId) return
  const [coupon] = await tx.select({ id: coupons.id }).from(coupons).where(eq(coupons.id, next.couponId!))
  if (!coupon) throw wrong('welcomeOffer.couponId', 'no such coupon')
}

export const settingsRoutes = resource('store', '/settings')
  .get(
    '',
    { operationId: 'getSettings', summary: 'Read the settings', scope: 'settings:read', responses: { 200: Settings }, stored: true },
    async ({ settings }) => view(await settings()),
  )
  .patch(
    '',
    {
      operationId: 'updateSettings',
      summary: 'Change settings',
      description: 'Partial: objects merge field by field, null clears a field that may be null.',
      scope: 'settings:write',
      body: SettingsPatch,
      responses: { 200: Settings },
    },
    async ({ body, write, session, services, clock, now, after }) => {
      const row = await write(async (tx) => {
        const stored = await settingsIn(tx)
        const next = changed(stored, body, clock.secret())
        if (next.welcomeOffer) await checkOffer(tx, next.welcomeOffer, body.welcomeOffer)
        await tx.update(table).set({ ...next, updatedAt: now })
        // What has waited longer than it may now is found by the job.
        // A trigger asks for the mails that have waited for this.
        if (body.email?.outboundEnabled) announce(tx)
        if (body.checkout?.unpaidHours !== undefined) await enqueueBy(tx, { clock, now }, { ...UNPAID, dueAt: now })
        return { ...stored, ...next, updatedAt: now }
      })
      // Operators list stores from the control database, which is another file: the name there follows once the change is safe.
      if (body.name !== undefined && session.environment === 'live')
        after(async () => {
          await services.registry.updateStore(session.store.id, { name: row.name })
        })
      return view(row)
    },
  )
  .post(
    '/email-domain/verify',
    {
      operationId: 'verifyEmailDomain',
      summary: "Check the email domain's DNS record",
      description:
        '`email.lastCheck` of the answer says which record was asked for, and what is there. A sandbox asks no DNS: its domain counts as verified.',
      scope: 'settings:write',
      responses: { 200: Settings },
      async prepare({ settings, session, services, clock }) {
        const {
          email: { domain },
          emailDomainToken: token,
        } = await settings()
        if (domain === null) throw wrong('email.domain', 'set a domain first')
        const record = proofOf(domain, token)
        const looked: Lookup =
          session.environment === 'sandbox' ? { result: 'sandbox', found: [] } : await lookUp(services.resolver, record)
        return {
          token,
          check: { name: record.name, expected: record.value, ...looked, at: clock.now().toISOString() },
        } satisfies Checked
      },
    },
    ({ prepared, write, now }) =>
      write(async (tx) => {
        const { token, check } = prepared as Checked
        const isVerified = check.result === 'verified' || check.result === 'sandbox'
        // The token is the domain's: one that was changed during the look-up stays unverified. Nobody's answer changes nothing.
        await tx
          .update(table)
          .set({ emailDomainCheck: check, ...(check.result === 'no_answer' ? {} : { emailDomainVerified: isVerified }), updatedAt: now })
          .where(eq(table.emailDomainToken, token))
        return view(await settingsIn(tx))
      }),
  )
