/** `/api-keys`: the keys of the store, made and ended by those that may administrate it (document 8, Keys). */
import { asc } from 'drizzle-orm'
import { newKey, type KeyRow } from '../../db/control/keys.ts'
import { SCOPES } from '../../db/control/scopes.ts'
import { apiKeys } from '../../db/control/tables.ts'
import { conflict } from '../values/refusal.ts'
import { resource } from '../http/route.ts'
import { Body, deleted, Deleted, Instant, Label, Named, Nullable, OneOf, Page, Paging, Type, Uuid } from '../http/schema.ts'
import { change, forget, revoke, rotate, unrevoke } from './key-changes.ts'
import { endWithin, refuseEnding, refuseWider } from './key-grants.ts'
import { add, ADMIN, isLastAdmin, keyOf, KEYS_MAX, visibleTo } from './key-rows.ts'

/** A week: whoever needs longer to deploy a key makes a second one. */
const GRACE_MAX_MINUTES = 7 * 24 * 60

const ApiKey = Named('ApiKey', {
  id: Uuid(),
  name: Type.String({ examples: ['Storefront'] }),
  prefix: Nullable(Type.String(), {
    description: 'First 8 characters of the key; null for one of an older release that has not been used since',
  }),
  scopes: Nullable(Type.Array(Type.String()), { description: 'Null: no restriction' }),
  environment: OneOf(['live', 'sandbox']),
  createdAt: Type.String(),
  lastUsedAt: Nullable(Type.String(), { description: 'To the hour; null: never' }),
  expiresAt: Nullable(Type.String(), { description: 'From then on the key is refused; null: never' }),
})
const NewApiKey = Named('NewApiKey', { ...ApiKey.properties, key: Type.String({ description: 'Shown this once' }) })

const ExpiresAt = Nullable(Instant(), { description: 'In the future, and no later than the calling key expires; null: never' })
/** A misspelt limit would make a key that may everything, or that never ends. */
const STRICT = { additionalProperties: false }
const ApiKeyInput = Body(
  'ApiKeyInput',
  [{ name: 'Storefront', environment: 'live', expiresAt: '2030-06-01T11:00:00.000Z' }],
  {
    name: Label(200, { description: 'What it is for; stands in the audit log' }),
    scopes: Type.Optional(
      Nullable(Type.Array(OneOf(SCOPES), { minItems: 1, maxItems: SCOPES.length }), {
        description: 'None that the calling key lacks; null: no restriction. When left out: what the calling key may',
      }),
    ),
    environment: Type.Optional(
      OneOf(['live', 'sandbox'], { description: 'A sandbox key makes sandbox keys alone. When left out: that of the calling key' }),
    ),
    expiresAt: Type.Optional({ ...ExpiresAt, description: `${ExpiresAt.description}. When left out: when the calling key expires` }),
  },
  STRICT,
)
const Rotation = Body(
  'RotateApiKeyInput',
  [{ graceMinutes: 60, expiresAt: '2030-06-01T11:00:00.000Z' }],
  {
    graceMinutes: Type.Optional(
      Type.Integer({ minimum: 0, maximum: GRACE_MAX_MINUTES, default: 60, description: 'For how long the old key is still taken' }),
    ),
    expiresAt: Type.Optional({
      ...ExpiresAt,
      description: `${ExpiresAt.description}. When left out: as the old one had it, but no later than that`,
    }),
  },
  STRICT,
)

/** A key as the API shows it. */
const shown = ({ id, name, prefix, scopes, environment, createdAt, lastUsedAt, expiresAt }: KeyRow) => ({
  id,
  name,
  prefix,
  scopes,
  environment,
  createdAt,
  lastUsedAt,
  expiresAt,
})

export const apiKeyRoutes = resource('store', '/api-keys')
  .get(
    '',
    {
      operationId: 'listApiKeys',
      summary: 'List API keys',
      description: "Those that are not deleted, expired ones too. A sandbox key sees the sandbox's.",
      scope: ADMIN,
      query: Paging(50),
      responses: { 200: Page(ApiKey) },
    },
    async ({ session, services: { registry }, query: { limit, offset } }) => {
      const { read } = registry.control
      const visible = visibleTo(session)
      const rows = await read.select().from(apiKeys).where(visible).orderBy(asc(apiKeys.id)).limit(limit).offset(offset)
      const data = rows.map((row) => shown({ ...row, lastUsedAt: registry.use.at(row.id) ?? row.lastUsedAt }))
      return { data, meta: { count: await read.$count(apiKeys, visible), offset, limit } }
    },
  )
  .post(
    '',
    {
      operationId: 'createApiKey',
      summary: 'Make an API key',
      description: `The answer shows \`key\`, this once. A store has at most ${KEYS_MAX} live keys and as many of its sandbox.`,
      scope: ADMIN,
      body: ApiKeyInput,
      responses: { 201: NewApiKey },
    },
    ({ body, ...call }) => {
      const { session, now } = call
      const { name, scopes = session.key.scopes, environment = session.environment } = body
      refuseWider(session, scopes, environment)
      const input = { storeId: session.store.id, name, environment, scopes: scopes && [...new Set(scopes)] }
      const { row, secret } = newKey({ ...input, expiresAt: endWithin(session.key.expiresAt, body.expiresAt, null, now) }, new Date(now))
      return change(call, async (tx) => {
        await add(tx, row, now)
        return { result: { ...shown(row), key: secret }, undo: (again) => forget(again, row) }
      })
    },
  )
  .delete(
    '/{id}',
    {
      operationId: 'deleteApiKey',
      summary: 'Revoke an API key',
      description: `It is refused from then on. None that may more than the calling key. The last key with \`${ADMIN}\` (or without restriction) can't delete itself.`,
      scope: ADMIN,
      responses: { 200: Deleted },
      refuses: [409],
    },
    ({ params, ...call }) =>
      change(call, async (tx) => {
        const { session, now } = call
        const row = await keyOf(tx, session, params.id)
        refuseEnding(session, row.scopes)
        if (row.id === session.key.id && (await isLastAdmin(tx, row, now)))
          throw conflict(`this is the last key with ${ADMIN}: make another one before it deletes itself`)
        await revoke(tx, row, now)
        return { result: deleted, undo: (again) => unrevoke(again, row, now) }
      }),
  )
  .post(
    '/{id}/rotate',
    {
      operationId: 'rotateApiKey',
      summary: 'Replace an API key',
      description:
        'Makes a key with the same name, scopes and environment; the answer shows it, this once. The old one expires after `graceMinutes`, or when it would have.',
      scope: ADMIN,
      body: Rotation,
      bodyOptional: true,
      responses: { 201: NewApiKey },
    },
    ({ body, params, ...call }) =>
      change(call, async (tx, store) => {
        const { result, undo } = await rotate(tx, store, call, params.id, body)
        return { result: { ...shown(result.row), key: result.secret }, undo }
      }),
  )
