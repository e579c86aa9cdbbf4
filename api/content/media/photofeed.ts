/** Photo feeds (document 1): an account's pictures, for a gallery in a storefront. */
import { cursorOf, placeOf } from '../../http/input/cursor.ts'
import { ownerOf } from '../../http/auth.ts'
import { missing } from '../../values/refusal.ts'
import { resource } from '../../http/route.ts'
import { Named, Nullable, Paging, Text, Type, Uuid } from '../../http/schema.ts'
import { libraryFeeds } from './feed-provider.ts'

const LIMIT = 48
const LIMIT_MAX = 96

const FeedImage = Named('PhotoFeedImage', {
  id: Type.String({ examples: ['01985d2c-7c00-7c00-8f9c-9c0785e61bcc'] }),
  url: Type.String(),
  description: Nullable(Type.String()),
  takenAt: Type.String(),
  code: Nullable(Type.String()),
  mediaId: Uuid({ description: 'The same picture in the media library' }),
})
const Feed = Named('PhotoFeed', {
  handle: Type.String({ description: 'As the account writes it, without `@`' }),
  images: Type.Array(FeedImage),
  nextCursor: Nullable(Type.String(), { description: 'Null at the end' }),
})

export const photofeedRoutes = resource('content', '/photofeed/accounts').get(
  '/{handle}/images',
  {
    operationId: 'listPhotoFeedImages',
    summary: "List an account's pictures, newest first",
    description: 'The handle is matched without regard to case; an `@` before it is ignored.',
    scope: 'storefront:read',
    query: {
      limit: Paging(LIMIT, LIMIT_MAX).limit,
      cursor: Type.Optional(Text(1, 200, { description: '`nextCursor` of the page before' })),
    },
    responses: { 200: Feed },
    stored: true,
  },
  async ({ db, session, services: { files }, params, query: { limit, cursor } }) => {
    const after = cursor === undefined ? null : placeOf(cursor)
    // One more than asked for tells whether there is another page.
    const feed = await libraryFeeds.images({ db, owner: ownerOf({ session }), files }, params.handle, { limit: limit + 1, after })
    if (!feed) throw missing('account')
    const images = feed.images.slice(0, limit)
    const last = images.at(-1)
    return {
      handle: feed.handle,
      images,
      nextCursor: feed.images.length > limit ? cursorOf({ at: last!.takenAt, id: last!.id }) : null,
    }
  },
)
