/** `/forms/token`: what a storefront puts into the forms that its visitors fill in, so that machines give themselves away. */
import { Reply, resource } from '../../http/route.ts'
import { Named, Type } from '../../http/schema.ts'
import { formToken, LEAST_SECONDS, OLDEST_SECONDS } from './form-token.ts'

const FormToken = Named('FormToken', {
  token: Type.String({ description: 'Goes back as `_form`' }),
  field: Type.Literal('_url', { description: 'A field that people do not see: it goes back empty' }),
  minSeconds: Type.Integer({ description: 'A form that comes back sooner was not written by a person' }),
  expiresAt: Type.String(),
})

export const formRoutes = resource('content', '/forms').get(
  '/token',
  {
    operationId: 'getFormToken',
    summary: 'Get a token for a form',
    description: 'For reviews, comments and contact messages. Nothing is refused for want of it: moderators see it in `signals`.',
    scope: ['storefront:read', 'storefront:write'],
    responses: { 200: FormToken },
  },
  (call) => {
    const expiresAt = new Date(call.clock.now().getTime() + OLDEST_SECONDS * 1_000).toISOString()
    const token = { token: formToken(call), field: '_url' as const, minSeconds: LEAST_SECONDS, expiresAt }
    return new Reply(200, token, { 'cache-control': 'private, no-store' })
  },
)
