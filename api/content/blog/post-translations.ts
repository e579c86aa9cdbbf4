/** Translations of posts (document 1, Localization). */
import { documentInput, strict, textInput, translate, Translation, translationNotes } from '../../catalog/translating.ts'
import { resource } from '../../http/route.ts'
import { Body, Line, Nullable, Type } from '../../http/schema.ts'
import { findPost } from './post.ts'

const PostFields = Body(
  'TranslatePostInput',
  [{ title: 'Leinen pflegen', slug: 'leinen-pflegen', seoTitle: 'Leinen pflegen' }],
  {
    title: Type.Optional(Nullable(Line(0, 300))),
    slug: textInput(200),
    seoTitle: Type.Optional(Nullable(Line(0, 300))),
    seoDescription: textInput(1000),
    content: documentInput(0),
  },
  strict,
)

export const postTranslationRoutes = resource('content', '/posts').put(
  '/{idOrSlug}/translations/{locale}',
  {
    operationId: 'translatePost',
    summary: 'Translate a post',
    description: translationNotes('post'),
    scope: 'catalog:write',
    tool: 'blog',
    body: PostFields,
    responses: { 200: Translation('TranslatePostAnswer', 'postId') },
    refuses: [409],
  },
  (call) => translate(call, 'post', (tx) => findPost(tx, call.params.idOrSlug, { lang: null, storefront: false, now: call.now })),
)
