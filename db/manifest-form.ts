/** The form that the manifest of a backup must have: whoever hands one over may have changed it. */
import { Type } from '@sinclair/typebox'
import { Errors } from '@sinclair/typebox/errors'
import { PLANS } from '../api/values/plans.ts'
import { DOMAIN_STATUSES } from './control/tables.ts'

const Text = Type.String({ minLength: 1 })
const Later = Type.Optional(Type.Union([Type.String(), Type.Null()]))
const Sum = Type.Object({ bytes: Type.Integer({ minimum: 1 }), sha256: Text })

/** Keys of older releases lack what came later. */
const Key = Type.Object({
  id: Text,
  storeId: Text,
  name: Type.String(),
  environment: Type.Union([Type.Literal('live'), Type.Literal('sandbox')]),
  scopes: Type.Union([Type.Array(Type.String()), Type.Null()]),
  hash: Text,
  createdAt: Text,
  revokedAt: Type.Union([Type.String(), Type.Null()]),
  prefix: Later,
  lastUsedAt: Later,
  expiresAt: Later,
  replacedBy: Later,
})

const Form = Type.Object({
  createdAt: Text,
  schemaVersion: Type.Integer({ minimum: 1 }),
  store: Type.Object({
    id: Text,
    name: Type.String(),
    slug: Text,
    plan: Type.Union(PLANS.map((plan) => Type.Literal(plan))),
    aiBuilt: Type.Boolean(),
    createdAt: Text,
  }),
  keys: Type.Array(Key),
  parts: Type.Object({ live: Sum, sandbox: Sum }),
  builder: Type.Optional(
    Type.Object({
      project: Type.Object({ keyId: Text, createdAt: Text }),
      domain: Type.Union([
        Type.Null(),
        Type.Object({
          ...{ domain: Text, token: Text, createdAt: Text, checkedAt: Type.Union([Type.String(), Type.Null()]) },
          ...{
            verifiedAt: Type.Union([Type.String(), Type.Null()]),
            status: Type.Union(DOMAIN_STATUSES.map((status) => Type.Literal(status))),
          },
        }),
      ]),
    }),
  ),
})

/** The first field of a manifest that is not what it must be, as `keys.0.name`; null when there is none. */
export function wrongField(manifest: unknown): string | null {
  const first = Errors(Form, manifest).First()
  return first ? first.path.slice(1).replaceAll('/', '.') || 'all of it' : null
}
