/** Availability notifications (document 3): one mail for each who asked, once a variant can be bought again. */
import { and, desc, eq, getTableColumns } from 'drizzle-orm'
import { aside } from '../../../db/aside.ts'
import { availabilityNotifications, NOTIFICATION_STATUSES } from '../../../db/store/visitors.ts'
import { ownerOf } from '../../http/auth.ts'
import { resource, type Call } from '../../http/route.ts'
import { Body, deleted, Deleted, Named, Nullable, OneOf, Page, Paging, Text, Type, Uuid } from '../../http/schema.ts'
import { isLocale } from '../../values/locales.ts'
import { conflict, missing, wrong } from '../../values/refusal.ts'
import { writer } from '../visitors/submission.ts'
import { findWanted, wait } from './notification.ts'

const Status = OneOf(NOTIFICATION_STATUSES, {
  description:
    '`pending` until the click in a mail, where the settings ask for one; then `waiting`; `unknown` is a mail that was on its way when a process died',
})
const own = { variantId: Uuid(), email: Type.String(), status: Status }
const AvailabilityNotification = Named('AvailabilityNotification', {
  id: Uuid(),
  ...own,
  lang: Nullable(Type.String()),
  error: Nullable(Type.String()),
  notifiedAt: Nullable(Type.String()),
  createdAt: Type.String(),
  updatedAt: Type.String(),
})
const Noted = Named('NotedAvailabilityNotification', {
  ...own,
  id: Type.Optional(Uuid({ description: 'For keys that may read who waits' })),
})
const AvailabilityNotificationInput = Body(
  'AvailabilityNotificationInput',
  [{ variantId: '01985d2c-7c00-7a07-8be3-e3af2ffefb45', email: 'ada@example.com' }],
  {
    variantId: Uuid(),
    email: Text(3, 254),
    lang: Type.Optional(Nullable(Type.String({ maxLength: 20, description: 'The language of the mail, such as `pl-PL`' }))),
  },
)

const mayKnow = ({ session: { scopes } }: Call) => scopes === null || scopes.has('marketing:read') || scopes.has('marketing:write')
const shown = ({ locale: lang, ...row }: typeof availabilityNotifications.$inferSelect) => ({ ...row, lang })

export const availabilityRoutes = resource('content', '/availability-notifications')
  .post(
    '',
    {
      operationId: 'createAvailabilityNotification',
      summary: 'Ask for a mail when a variant is back',
      description: 'The same 201 for an address that waits already. 409 when it can be bought now.',
      scope: 'storefront:write',
      unaudited: true,
      body: AvailabilityNotificationInput,
      responses: { 201: Noted },
    },
    (call) => {
      const { body } = call
      const email = writer(body)
      if (body.lang && !isLocale(body.lang)) throw wrong('lang', 'is not a supported locale')
      call.countSubmission()
      return call.write(async (tx) => {
        const settings = await call.settings()
        const variantId = body.variantId.toLowerCase()
        const wanted = await findWanted(tx, variantId)
        if (!wanted) throw wrong('variantId', 'no such resource in this store')
        if (wanted.available) throw conflict('it can be bought now', { variantId })
        const row = await wait(tx, call, { variantId, email, locale: body.lang || null, owner: ownerOf(call) }, settings)
        if (mayKnow(call)) return row
        // Nobody learns of an address whether it has been here.
        return { variantId, email, status: settings.email.doubleOptIn ? ('pending' as const) : ('waiting' as const) }
      })
    },
  )
  .get(
    '',
    {
      operationId: 'listAvailabilityNotifications',
      summary: 'List who waits for what',
      description: 'Newest first, those that had their mail included.',
      scope: 'marketing:read',
      query: { ...Paging(50), variantId: Type.Optional(Uuid()), status: Type.Optional(Status) },
      responses: { 200: Page(AvailabilityNotification) },
      stored: true,
    },
    async ({ db, query: { limit, offset, variantId, status } }) => {
      const { id, createdAt } = availabilityNotifications
      const where = and(
        variantId === undefined ? undefined : eq(availabilityNotifications.variantId, variantId),
        status === undefined ? undefined : eq(availabilityNotifications.status, status),
      )
      const far = aside(db, 'availability_notifications')
      // Of one variant by their ids, which follow each other in time: that is the order of its index.
      const order = variantId === undefined ? [desc(createdAt), desc(id)] : [desc(id)]
      const page = far
        .select({ id })
        .from(availabilityNotifications)
        .where(where)
        .orderBy(...order)
        .limit(limit)
        .offset(offset)
        .as('page')
      const rows = await far
        .select(getTableColumns(availabilityNotifications))
        .from(page)
        .crossJoin(availabilityNotifications)
        .where(eq(id, page.id))
        .orderBy(...order)
      return { data: rows.map(shown), meta: { count: await far.$count(availabilityNotifications, where), offset, limit } }
    },
  )
  .delete(
    '/{id}',
    {
      operationId: 'deleteAvailabilityNotification',
      summary: 'Forget that somebody waits',
      scope: ['marketing:write', 'storefront:write'],
      responses: { 200: Deleted },
    },
    ({ params, write }) =>
      write(async (tx) => {
        const gone = await tx
          .delete(availabilityNotifications)
          .where(eq(availabilityNotifications.id, params.id))
          .returning({ id: availabilityNotifications.id })
        if (!gone.length) throw missing('availability notification')
        return deleted
      }),
  )
