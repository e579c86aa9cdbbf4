/** `/me`: which store a key opens, and what the key may do (document 3, Store; document 1, Localization). */
import { PLANS } from '../values/plans.ts'
import { Named, Nullable, OneOf, Type, Uuid } from '../http/schema.ts'
import { resource } from '../http/route.ts'

const Me = Named('Me', {
  store: Type.Object({
    id: Uuid(),
    name: Type.String({ examples: ['Atelier Nord'] }),
    slug: Type.String(),
    currency: Type.String({ description: 'Base currency, always available' }),
    locale: Type.String(),
    plan: OneOf(PLANS),
    aiBuilt: Type.Boolean(),
    settings: Type.Object({
      defaultLanguage: Type.String(),
      enabledLanguages: Type.Record(Type.String(), Type.Boolean()),
      enabledCurrencies: Type.Array(Type.String()),
      taxesIncluded: Type.Boolean({ description: 'Whether tax is in the prices' }),
      timezone: Type.String({ description: 'IANA name' }),
    }),
  }),
  key: Type.Object({
    id: Uuid(),
    name: Type.String({ examples: ['Storefront'] }),
    environment: OneOf(['live', 'sandbox']),
    scopes: Nullable(Type.Array(Type.String()), { description: 'Null: no restriction' }),
  }),
})

export const me = resource('store', '/me').get(
  '',
  { operationId: 'getMe', summary: 'The store and the key that call', scope: 'any key', responses: { 200: Me } },
  async ({ session, settings }) => {
    const { store, key } = session
    const { name, currency, locale, defaultLanguage, enabledLanguages, enabledCurrencies, taxesIncluded, timezone } = await settings()
    return {
      store: {
        id: store.id,
        name,
        slug: store.slug,
        currency,
        locale,
        plan: store.plan,
        aiBuilt: store.aiBuilt,
        settings: { defaultLanguage, enabledLanguages, enabledCurrencies, taxesIncluded, timezone },
      },
      key: { id: key.id, name: key.name, environment: key.environment, scopes: key.scopes },
    }
  },
)
