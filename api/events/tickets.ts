/** Tickets (document 2): buyers name the guests of their seats, guests their own, and the door lets each in once. */
import { and, eq, isNull } from 'drizzle-orm'
import { media } from '../../db/store/content.ts'
import { seatPhotos, seats } from '../../db/store/events.ts'
import { fileOf, NoImage } from '../content/image.ts'
import { keepImage, rowOf, type StoredImage } from '../content/keeping.ts'
import { ownerOf } from '../http/auth.ts'
import { Reply, resource, type Call } from '../http/route.ts'
import { Body, Line, Named, Nullable, Text, Type, type Static } from '../http/schema.ts'
import { emit } from '../store/outbox.ts'
import { isEmail, normalizeEmail } from '../values/email.ts'
import { conflict, wrong } from '../values/refusal.ts'
import { fold } from '../values/slug.ts'
import { PRIVATE } from './event.ts'
import { hashOf } from './seat.ts'
import { AttendeeTicket, bundleOf, findActiveSeat, findBought, findSeat, requireActive, ticketOf, Tickets } from './ticket.ts'

const PHOTO_MAX_BYTES = 2 * 1_048_576

const name = Type.Optional(Nullable(Line(0, 200)))
const email = Type.Optional(Nullable(Type.String({ maxLength: 254, description: 'Null or empty clears it' })))
const SeatsInput = Body(
  'TicketSeatsInput',
  [{ email: 'ada@example.com', seats: [{ token: 'zJ0pUqkNw1qWm7x5Yt3aBcDe', name: 'Grace Hopper' }] }],
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
const CheckInInput = Body('CheckInInput', [{ by: 'Door 1' }], { by: Type.Optional(Nullable(Line(0, 200))) })

const read = ['storefront:read', 'events:read'] as const
const write = ['storefront:write', 'events:write'] as const
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

type SeatCall<B> = Call<unknown, B, { token: string }>

/** The photo that a profile asks for: the one there is, none, or one that was uploaded for this seat. */
async function photoOf(call: SeatCall<Static<typeof ProfileInput>>, seat: { id: string; photoUrl: string | null }): Promise<string | null> {
  const { photoUrl } = call.body
  if (photoUrl === undefined) return seat.photoUrl
  const url = blank(photoUrl)
  if (url === null || url === seat.photoUrl) return url
  const uploaded = await call.db
    .select({ id: media.id, type: media.type })
    .from(seatPhotos)
    .innerJoin(media, eq(media.id, seatPhotos.mediaId))
    .where(eq(seatPhotos.seatId, seat.id))
  if (!uploaded.some(({ id, type }) => call.services.files.urlOf(ownerOf(call), id) + fileOf(type) === url))
    throw wrong('photoUrl', 'must be a URL that the upload of a photo has answered')
  return url
}

async function keepPhoto(call: SeatCall<unknown>): Promise<StoredImage> {
  await findActiveSeat(call.db, call)
  const { file, services, clock } = call
  if (!file?.bytes.length) throw wrong('file', file ? 'is empty' : 'is required')
  if (file.bytes.length > PHOTO_MAX_BYTES) throw wrong('file', 'must be at most 2 MB')
  const id = clock.id()
  try {
    const kept = await keepImage(services.files, ownerOf(call), id, { bytes: file.bytes, name: 'guest', source: null })
    call.undo(() => services.files.remove(ownerOf(call), id))
    if (kept.image.type === 'image/gif') throw new NoImage('must be a JPEG, PNG or WebP image')
    return kept
  } catch (error) {
    if (error instanceof NoImage) throw wrong('file', error.message)
    throw error
  }
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
      const bought = await findBought(call.db, call, call.query.email)
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
        const bought = await findBought(tx, call, call.body.email)
        requireActive(bought.order.status)
        const byHash = new Map(bought.seats.map((seat) => [seat.tokenHash, seat]))
        for (const [i, given] of call.body.seats.entries()) {
          const seat = byHash.get(hashOf(given.token))
          const address = addressOf(given.email, `seats.${i}.email`)
          if (!seat) continue
          if (given.name !== undefined)
            Object.assign(seat, { name: blank(given.name), foldedName: fold(blank(given.name) ?? bought.order.name ?? '') })
          if (given.email !== undefined) seat.email = address
          const { name: named, foldedName, email: reached } = seat
          await tx.update(seats).set({ name: named, foldedName, email: reached, updatedAt: call.now }).where(eq(seats.id, seat.id))
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
    async (call) => new Reply(200, await ticketOf(call.db, call.services.secrets, await findSeat(call.db, call)), PRIVATE),
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
          photoUrl: await photoOf(call, found.seat),
        }
        await tx
          .update(seats)
          .set({ ...profile, updatedAt: now })
          .where(eq(seats.id, found.seat.id))
        const changed = { ...found, seat: { ...found.seat, ...profile } }
        return ticketOf(tx, call.services.secrets, changed)
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
      uploadMaxBytes: PHOTO_MAX_BYTES,
      responses: { 201: Named('AttendeePhoto', { photoUrl: Type.String() }) },
      prepare: keepPhoto,
    },
    (call) =>
      call.write(async (tx) => {
        const kept = call.prepared as StoredImage
        const { seat } = await findActiveSeat(tx, call)
        await tx.insert(media).values(rowOf(kept, call.now))
        await tx.insert(seatPhotos).values({ mediaId: kept.id, seatId: seat.id })
        return { photoUrl: call.services.files.urlOf(ownerOf(call), kept.id) + fileOf(kept.image.type) }
      }),
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
        if (seat.state === 'held') throw conflict('the order has not been paid', { status })
        const { clock, now, body } = call
        if (seat.checkedInAt !== null) return { checkedInAt: seat.checkedInAt, checkedInBy: seat.checkedInBy, alreadyCheckedIn: true }
        const checkedIn = { checkedInAt: now, checkedInBy: blank(body.by) }
        await tx
          .update(seats)
          .set(checkedIn)
          .where(and(eq(seats.id, seat.id), isNull(seats.checkedInAt)))
        await emit(tx, clock, now, 'ticket.checked_in', { productId: seat.productId, seatId: seat.id, orderId: seat.orderId })
        return { ...checkedIn, alreadyCheckedIn: false }
      }),
  )
