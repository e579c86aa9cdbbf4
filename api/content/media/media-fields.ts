/** The fields of media: as they come in, as they are stored, as they are answered. */
import { IMAGE_TYPES, media } from '../../../db/store/content.ts'
import { Body, Instant, Label, Line, Named, Nullable, OneOf, Text, Type, Uuid, WebUrl, type Static } from '../../http/schema.ts'
import { fold } from '../../values/slug.ts'
import { utc } from '../../values/time.ts'
import { HANDLE, handleKey, shownHandle } from './handle.ts'
import { fileOf, renditionFile } from './image.ts'

const Rendition = Named('Rendition', {
  url: Type.String(),
  type: Type.Literal('image/webp'),
  width: Type.Integer(),
  height: Type.Integer(),
  size: Type.Integer(),
})
/** An image of the library, as it is answered. */
export const Media = Named('Media', {
  id: Uuid(),
  url: Type.String({ description: "On the store's CDN path; never changes what it shows" }),
  name: Type.String(),
  type: OneOf(IMAGE_TYPES, { description: 'Read from the bytes' }),
  size: Type.Integer({ description: 'Bytes of the file at `url`' }),
  width: Type.Integer({ description: 'Pixels, upright' }),
  height: Type.Integer(),
  renditions: Type.Array(Rendition, { description: 'The same as WebP, the narrowest first' }),
  alt: Nullable(Type.String(), { description: 'What it shows, for who does not see it' }),
  description: Nullable(Type.String()),
  feedAccount: Nullable(Type.String(), { description: 'Account whose photo feed it is in' }),
  takenAt: Type.String({ description: 'When it was added, unless told otherwise' }),
  code: Nullable(Type.String()),
  source: Nullable(Type.String(), { description: 'The URL that it was taken from' }),
  createdAt: Type.String(),
  updatedAt: Type.String(),
})
const about = {
  alt: Type.Optional(Nullable(Line(0, 500, { description: 'What it shows, for who does not see it' }))),
  description: Type.Optional(Nullable(Text(0, 5_000))),
  feedAccount: Type.Optional(
    Nullable(
      Type.String({ pattern: HANDLE, maxLength: 100, description: 'Account whose photo feed it is in', examples: ['atelier.nord'] }),
    ),
  ),
  takenAt: Type.Optional(Nullable(Instant({ description: 'Feeds are newest first by this' }))),
  code: Type.Optional(Nullable(Line(0, 100, { description: 'What the picture is called in its feed' }))),
}
const name = Type.Optional(Label(200, { description: "The file's own when left out" }))
/** The form of an upload. */
export const MediaForm = Type.Object(
  {
    file: Type.String({ contentMediaType: 'image/*', description: 'JPEG, PNG, WebP or GIF, at most 20 MB' }),
    name,
    ...about,
  },
  { examples: [{ file: '@file', description: 'Made from European linen.', takenAt: '2026-03-03T12:00:00.000Z' }] },
)
/** The address of an image to be fetched, and the texts about it. */
export const MediaInput = Body(
  'MediaInput',
  [{ url: 'https://example.com/linen-shirt', description: 'Made from European linen.', takenAt: '2026-03-03T12:00:00.000Z' }],
  {
    url: WebUrl({ description: 'Fetched at once, and kept here; a JPEG, PNG, WebP or GIF of at most 20 MB' }),
    name,
    ...about,
  },
)
/** The fields of an image that a request can change. */
export const MediaPatch = Body('MediaPatch', [{ description: 'Made from European linen.', takenAt: '2026-03-03T12:00:00.000Z' }], {
  name,
  ...about,
})

/** A row of the library. */
export type Row = typeof media.$inferSelect

/** The columns that a body decides, over what was known before; null and empty texts clear. */
export function columns(body: Static<typeof MediaPatch>, known: Pick<Row, 'name' | 'createdAt'> & Partial<Row>) {
  const text = (given: string | null | undefined, before: string | null | undefined) =>
    given === undefined ? (before ?? null) : given?.trim() || null
  const feedAccount = body.feedAccount === undefined ? (known.feedAccount ?? null) : body.feedAccount && shownHandle(body.feedAccount)
  const next = {
    name: body.name ?? known.name,
    alt: text(body.alt, known.alt),
    description: text(body.description, known.description),
    feedAccount,
    code: text(body.code, known.code),
  }
  return {
    ...next,
    feedKey: feedAccount && handleKey(feedAccount),
    takenAt: (body.takenAt === undefined ? known.takenAt : utc(body.takenAt)) ?? known.createdAt,
    folded: fold(Object.values(next).filter(Boolean).join('\n')),
  }
}

/** A row as it is answered. */
export const shown = ({ id, feedKey, folded, ...row }: Row, base: string) => ({
  id,
  url: base + fileOf(row.type),
  ...row,
  renditions: row.renditions.map((rendition) => ({
    url: base + renditionFile(rendition.width),
    type: 'image/webp' as const,
    ...rendition,
  })),
})
