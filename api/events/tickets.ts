/** Tickets (document 2): buyers name the guests of their seats, guests their own, and the door lets each in once. */
import { and, eq, isNull } from 'drizzle-orm'
import { compile, named, type Reader } from '../../db/driver.ts'
import { products } from '../../db/store/catalog.ts'
import { seats } from '../../db/store/events.ts'
import { Reply, resource } from '../http/route.ts'
import { Body, deleted, Deleted, Instant, Line, Named, Nullable, Text, Type } from '../http/schema.ts'
import { isEmail, normalizeEmail } from '../values/email.ts'
import { conflict, missing, wrong } from '../values/refusal.ts'
import { fold } from '../values/slug.ts'
import { utc } from '../values/time.ts'
import { PRIVATE } from './event.ts'
import { addPhoto, choosePhoto, keepPhoto, UPLOAD_MAX_BYTES, photoUrlOf } from './photo.ts'
import { hashOf } from './seat.ts'
import { AttendeeTicket, bundleOf, findActiveSeat, findSeats, findSeat, requireActive, tellCheckIn, ticketOf, Tickets } from './ticket.ts'

const name = Type.Optional(Nullable(Line(0, 200)))
const email = Type.Optional(Nullable(Type.String({ maxLength: 254, description: 'Null or empty clears it' })))
const SeatsInput = Body(
  'TicketSeatsInput',
  [{ email: 'ada@example.com', seats: [{ token: 'AZhdLHwAe0KNHwJCrBIAAgC8nq3sT1xYw5ZbR7cUe2gQ', name: 'Grace Hopper' }] }],
  {
    email: Text(1, 254, { description: 'The one that bought them' }),
    seats: Type.Array(Type.Object({ token: Type.String({ minLength: 16, maxLength: 200 }), name, email }), { minItems: 1, maxItems: 200 }),
  },
)
const ProfileInput = Body(
  'AttendeeProfileInput',
  [{ name: 'Grace Hopper', bio: 'Compilers', socialProfileUrl: 'https://www.linkedin.com/in/grace', listed: true }],
  {
    name,
    email,
    bio: Type.Optional(Nullable(Type.String({ maxLength: 240 }))),
    socialProfileUrl: Type.Optional(
      Nullable(Type.String({ maxLength: 300, description: 'https, linkedin.com or below it, /in/… or /company/…' })),
    ),
    listed: Type.Optional(Type.Boolean({ description: 'Shown in the directory; counts with a profile URL alone' })),
    photoUrl: Type.Optional(Nullable(Type.String({ maxLength: 2048, description: 'Left out keeps the photo, null or empty removes it' }))),
  },
  { 'x-wrapped': 'attendee' },
)
const PhotoForm = Type.Object(
  { file: Type.String({ contentMediaType: 'image/*', description: 'JPEG, PNG or WebP, at most 2 MB' }) },
  { examples: [{ file: '@file' }] },
)
const CheckInInput = Body('CheckInInput', [{ by: 'Door 1' }], {
  by: Type.Optional(Nullable(Line(0, 200))),
  scannedAt: Type.Optional(
    Nullable(Instant(), {
      description: 'When a scanner without a line has read the code; a time that is not within the last day counts as now',
    }),
  ),
  event: Type.Optional(
    Nullable(Text(1, 200, { description: 'Id or slug of the event whose door it is: 409 for a ticket of another one' })),
  ),
})

const nameSeat = compile((db) =>
  db
    .update(seats)
    .set({ name: named('name'), foldedName: named('foldedName'), email: named('email'), updatedAt: named('now') })
    .where(eq(seats.id, named('id'))),
)

const read = ['storefront:read', 'events:read'] as const
const write = ['storefront:write', 'events:write'] as const
/** A scanner that was without a line sends what it has read within so long. */
const SCANNED_MAX_MS = 86_400_000

/** When a guest came: within the last day, whatever a scanner's clock says. */
function cameAt(scannedAt: string | null | undefined, now: string): string {
  const at = utc(scannedAt) ?? now
  return at < now && Date.parse(now) - Date.parse(at) <= SCANNED_MAX_MS ? at : now
}

/** Refuses with 409 a ticket that is for another event than the door's. */
async function requireDoor(db: Reader, seat: { productId: string }, event: string | null | undefined) {
  if (event == null || event.toLowerCase() === seat.productId) return
  const [own] = await db.select({ name: products.name, slug: products.slug }).from(products).where(eq(products.id, seat.productId))
  if (own?.slug !== event) throw conflict(`the ticket is for another event: ${own?.name}`, { event: own?.slug })
}

const blank = (text: string | null | undefined) => text?.trim() || null

/** An address as it is stored; null for none, 400 at `path` for what is none. */
function addressOf(given: string | null | undefined, path: string): string | null {
  const text = blank(given)
  if (text !== null && !isEmail(text)) throw wrong(path, 'must be an email address')
  return text && normalizeEmail(text)
}

/** The URL of a profile on the professional network (document 3). */
function profileOf(given: string | null | undefined): string | null {
  const text = blank(given)
  if (text === null) return null
  const url = URL.canParse(text) ? new URL(text) : null
  const isThere = url && /^([a-z0-9-]+\.)*linkedin\.com$/.test(url.hostname) && /^\/(in|company)\/[^/]/.test(url.pathname)
  if (!isThere || url.protocol !== 'https:' || url.username || url.password || url.port)
    throw wrong('socialProfileUrl', 'must be https://linkedin.com/in/… or /company/…')
  return url.href
}

export const ticketRoutes = resource('events', '/tickets')
  .get(
    '/{code}',
    {
      operationId: 'getTickets',
      summary: 'Look up the seats of an order',
      description:
        'By its access code and the address that bought it. All that is wrong gets one 404; after 20 wrong ones in a minute 429.',
      scope: read,
      tool: 'events',
      query: { email: Text(1, 254, { description: 'The one that bought them' }) },
      responses: { 200: Tickets },
    },
    async (call) => {
      const bought = await findSeats(call.db, call, call.query.email)
      return new Reply(200, await bundleOf(call.db, call.services.secrets, call.params.code, bought), PRIVATE)
    },
  )
  .patch(
    '/{code}',
    {
      operationId: 'updateTickets',
      summary: 'Name the guests of seats',
      description: 'Tokens that are not of the order are ignored.',
      scope: write,
      tool: 'events',
      unaudited: true,
      body: SeatsInput,
      responses: { 200: Tickets },
      refuses: [409],
    },
    (call) =>
      call.write(async (tx) => {
        const bought = await findSeats(tx, call, call.body.email)
        requireActive(bought.order.status)
        const byHash = new Map(bought.seats.map((seat) => [seat.tokenHash, seat]))
        for (const [i, given] of call.body.seats.entries()) {
          const seat = byHash.get(hashOf(given.token))
          const address = addressOf(given.email, `seats.${i}.email`)
          if (!seat) continue
          if (given.name !== undefined)
            Object.assign(seat, { name: blank(given.name), foldedName: fold(blank(given.name) ?? bought.order.name ?? '') })
          if (given.email !== undefined) seat.email = address
          await nameSeat.run(tx, { id: seat.id, name: seat.name, foldedName: seat.foldedName, email: seat.email, now: call.now })
        }
        return bundleOf(tx, call.services.secrets, call.params.code, bought)
      }),
  )
  .get(
    '/attendee/{token}',
    {
      operationId: 'getAttendeeTicket',
      summary: 'Read a ticket by its token',
      scope: read,
      tool: 'events',
      responses: { 200: AttendeeTicket },
    },
    async (call) => {
      const found = await findSeat(call.db, call)
      const photoUrl = photoUrlOf(call, { ...found.seat, photoType: found.photoType })
      return new Reply(200, await ticketOf(call.db, call.services.secrets, found, photoUrl), PRIVATE)
    },
  )
  .patch(
    '/attendee/{token}',
    {
      operationId: 'updateAttendeeTicket',
      summary: "Replace a guest's profile",
      description: 'A full replacement: send every field that is to stay. The photo stays when it is left out.',
      scope: write,
      tool: 'events',
      unaudited: true,
      body: ProfileInput,
      responses: { 200: AttendeeTicket },
      refuses: [409],
    },
    (call) =>
      call.write(async (tx) => {
        const found = await findActiveSeat(tx, call)
        const { body, now } = call
        const socialProfileUrl = profileOf(body.socialProfileUrl)
        const profile = {
          name: blank(body.name),
          foldedName: fold(blank(body.name) ?? found.buyer ?? ''),
          email: addressOf(body.email, 'email'),
          bio: blank(body.bio),
          socialProfileUrl,
          listed: (body.listed ?? false) && socialProfileUrl !== null,
        }
        const photo = await choosePhoto(tx, call, { ...found.seat, photoType: found.photoType }, body.photoUrl)
        await tx
          .update(seats)
          .set({ ...profile, photoId: photo.photoId, updatedAt: now })
          .where(eq(seats.id, found.seat.id))
        const changed = { ...found, seat: { ...found.seat, ...profile } }
        return ticketOf(tx, call.services.secrets, changed, photoUrlOf(call, photo))
      }),
  )
  .post(
    '/attendee/{token}/photo',
    {
      operationId: 'uploadAttendeePhoto',
      summary: 'Upload a photo of a guest',
      description: 'Encoded anew, without what cameras note in files. It changes nothing yet: send its URL as `photoUrl`.',
      scope: write,
      tool: 'events',
      unaudited: true,
      upload: PhotoForm,
      uploadMaxBytes: UPLOAD_MAX_BYTES,
      responses: { 201: Named('AttendeePhoto', { photoUrl: Type.String() }) },
      prepare: keepPhoto,
    },
    (call) => call.write(async (tx) => ({ photoUrl: await addPhoto(tx, call) })),
  )
  .post(
    '/attendee/{token}/checkin',
    {
      operationId: 'checkIn',
      summary: 'Check a guest in',
      description: 'Once: again it answers with the first time. 409 while the order is not paid, and once it is over.',
      scope: write,
      tool: 'events',
      body: CheckInInput,
      bodyOptional: true,
      responses: {
        200: Named('CheckIn', { checkedInAt: Type.String(), checkedInBy: Nullable(Type.String()), alreadyCheckedIn: Type.Boolean() }),
      },
    },
    (call) =>
      call.write(async (tx) => {
        const { seat, status } = await findActiveSeat(tx, call)
        await requireDoor(tx, seat, call.body.event)
        if (seat.state === 'held') throw conflict('the order has not been paid', { status })
        const { now, body } = call
        if (seat.checkedInAt !== null) return { checkedInAt: seat.checkedInAt, checkedInBy: seat.checkedInBy, alreadyCheckedIn: true }
        const checkedIn = { checkedInAt: cameAt(body.scannedAt, now), checkedInBy: blank(body.by) }
        await tx
          .update(seats)
          .set(checkedIn)
          .where(and(eq(seats.id, seat.id), isNull(seats.checkedInAt)))
        await tellCheckIn(tx, call, seat)
        return { ...checkedIn, alreadyCheckedIn: false }
      }),
  )
  .delete(
    '/attendee/{token}/checkin',
    {
      operationId: 'undoCheckIn',
      summary: 'Take a check-in back',
      description:
        'For the wrong code at the door: the guest can be checked in again. 404 for one who was not, 409 once the order is over.',
      scope: 'events:write',
      tool: 'events',
      responses: { 200: Deleted },
    },
    (call) =>
      call.write(async (tx) => {
        const { seat } = await findActiveSeat(tx, call)
        if (seat.checkedInAt === null) throw missing('check-in')
        await tx.update(seats).set({ checkedInAt: null, checkedInBy: null }).where(eq(seats.id, seat.id))
        return deleted
      }),
  )
