/** `/api-keys`: the keys of the store, made and ended by those that may administrate it (document 8, Keys). */
import { and, asc, desc, eq, inArray, isNull, ne, not, or, sql } from 'drizzle-orm'
import { isUsable, newKey, type KeyRow } from '../../db/control/keys.ts'
import type { Registry, Session } from '../../db/control/registry.ts'
import { SCOPES } from '../../db/control/scopes.ts'
import { apiKeys } from '../../db/control/tables.ts'
import type { Db } from '../../db/driver.ts'
import { conflict, missing } from '../http/refusal.ts'
import { resource } from '../http/route.ts'
import { deleted, Deleted, Instant, Label, Nullable, OneOf, Page, Paging, Type, Uuid } from '../http/schema.ts'
import { endWithin, refuseWider } from './key-grants.ts'

/** Keys of a store and environment that open something, and ended ones that are kept to look up. */
const KEYS_MAX = 100
const ENDED_MAX = 1_000
/** A week: whoever needs longer to deploy a key makes a second one. */
const GRACE_MAX_MINUTES = 7 * 24 * 60
const ADMIN = 'store:admin'

const ApiKey = Type.Object(
  {
    id: Uuid(),
    name: Type.String(),
    prefix: Nullable(Type.String(), {
      description: 'First 8 characters of the key; null for one of an older release that has not been used since',
    }),
    scopes: Nullable(Type.Array(Type.String()), { description: 'Null: no restriction' }),
    environment: OneOf(['live', 'sandbox']),
    createdAt: Type.String(),
    lastUsedAt: Nullable(Type.String(), { description: 'To the hour; null: never' }),
    expiresAt: Nullable(Type.String(), { description: 'From then on the key is refused; null: never' }),
  },
  { $id: 'ApiKey' },
)
const NewApiKey = Type.Object({ ...ApiKey.properties, key: Type.String({ description: 'Shown this once' }) }, { $id: 'NewApiKey' })

const ExpiresAt = Nullable(Instant(), { description: 'In the future, and no later than the calling key expires; null: never' })
const ApiKeyInput = Type.Object({
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
})
const Rotation = Type.Object({
  graceMinutes: Type.Optional(
    Type.Integer({ minimum: 0, maximum: GRACE_MAX_MINUTES, default: 60, description: 'For how long the old key is still taken' }),
  ),
  expiresAt: Type.Optional({
    ...ExpiresAt,
    description: `${ExpiresAt.description}. When left out: as the old one had it, but no later than that`,
  }),
})

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

/** The keys that a session may know of: a sandbox key knows nothing of the live ones. */
const visibleTo = ({ store, environment }: Session) =>
  and(eq(apiKeys.storeId, store.id), isNull(apiKeys.revokedAt), environment === 'sandbox' ? eq(apiKeys.environment, 'sandbox') : undefined)

async function keyOf(tx: Db, session: Session, id: string): Promise<KeyRow> {
  const [row] = await tx
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.id, id.toLowerCase()), visibleTo(session)))
  if (!row) throw missing('API key')
  return row
}

/** Adds a key to those of its store and environment (the sandbox can't crowd out the live ones), and forgets ended ones beyond those that are kept. */
async function add(tx: Db, row: KeyRow, now: string) {
  const likeIt = and(eq(apiKeys.storeId, row.storeId), eq(apiKeys.environment, row.environment))
  if ((await tx.$count(apiKeys, and(likeIt, isUsable(now)))) >= KEYS_MAX)
    throw conflict(`a store has at most ${KEYS_MAX} ${row.environment} keys: delete one that is used no more`)
  const ended = tx
    .select({ id: apiKeys.id })
    .from(apiKeys)
    .where(and(likeIt, not(isUsable(now)!)))
    .orderBy(desc(apiKeys.id))
    .limit(ENDED_MAX)
    .offset(ENDED_MAX)
  await tx.delete(apiKeys).where(inArray(apiKeys.id, ended))
  await tx.insert(apiKeys).values(row)
}

/** Whether a key is the last with which the same could be administrated: a live one can make sandbox keys, but not the other way round. */
async function isLastAdmin(tx: Db, { id, storeId, environment }: KeyRow, now: string): Promise<boolean> {
  const others = and(
    eq(apiKeys.storeId, storeId),
    ne(apiKeys.id, id),
    isUsable(now),
    environment === 'live' ? eq(apiKeys.environment, 'live') : undefined,
    or(isNull(apiKeys.scopes), sql`exists (select 1 from json_each(${apiKeys.scopes}) where value = ${ADMIN})`),
  )
  return (await tx.$count(apiKeys, others)) === 0
}

/** Keys are in the control database: what changes there is committed within the store's own transaction, which writes the audit log. */
export const apiKeyRoutes = ({ registry }: { registry: Registry }) =>
  resource('store', '/api-keys')
    .get(
      '',
      {
        op: 'listApiKeys',
        summary: 'List API keys',
        description: "Those that are not deleted, expired ones too. A sandbox key sees the sandbox's.",
        scope: ADMIN,
        query: Paging(50),
        answers: { 200: Page(ApiKey) },
      },
      async ({ session, query: { limit, offset } }) => {
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
        op: 'createApiKey',
        summary: 'Make an API key',
        description: `The answer shows \`key\`, this once. A store has at most ${KEYS_MAX} live keys and as many of its sandbox.`,
        scope: ADMIN,
        body: ApiKeyInput,
        answers: { 201: NewApiKey },
        refuses: [409],
      },
      ({ body, session, write, now }) => {
        const { name, scopes = session.key.scopes, environment = session.environment } = body
        refuseWider(session, scopes, environment)
        const input = { storeId: session.store.id, name, environment, scopes: scopes && [...new Set(scopes)] }
        const { row, secret } = newKey({ ...input, expiresAt: endWithin(session, body.expiresAt, null, now) }, new Date(now))
        return write(async () => {
          await registry.change((tx) => add(tx, row, now))
          return { ...shown(row), key: secret }
        })
      },
    )
    .delete(
      '/{id}',
      {
        op: 'deleteApiKey',
        summary: 'Revoke an API key',
        description: `It is refused from then on. The last key with \`${ADMIN}\` (or without restriction) can't delete itself.`,
        scope: ADMIN,
        answers: { 200: Deleted },
        refuses: [404, 409],
      },
      ({ params, session, write, now }) =>
        write(() =>
          registry.change(async (tx) => {
            const row = await keyOf(tx, session, params.id!)
            if (row.id === session.key.id && (await isLastAdmin(tx, row, now)))
              throw conflict(`this is the last key with ${ADMIN}: make another one before it deletes itself`)
            await tx.update(apiKeys).set({ revokedAt: now }).where(eq(apiKeys.id, row.id))
            return deleted
          }),
        ),
    )
    .post(
      '/{id}/rotate',
      {
        op: 'rotateApiKey',
        summary: 'Replace an API key',
        description:
          'Makes a key with the same name, scopes and environment; the answer shows it, this once. The old one expires after `graceMinutes`, or when it would have.',
        scope: ADMIN,
        body: Rotation,
        bodyOptional: true,
        answers: { 201: NewApiKey },
        refuses: [404, 409],
      },
      ({ body, params, session, write, now }) =>
        write(() =>
          registry.change(async (tx) => {
            const old = await keyOf(tx, session, params.id!)
            refuseWider(session, old.scopes, old.environment)
            if (old.replacedBy) throw conflict(`this key is replaced already, by ${old.replacedBy}: rotate that one`)
            if (old.expiresAt !== null && old.expiresAt <= now) throw conflict('this key has expired: make another one')
            const expiresAt = endWithin(session, body.expiresAt, old.expiresAt, now)
            const { row, secret } = newKey({ ...old, expiresAt }, new Date(now))
            const graceEnds = new Date(Date.parse(now) + body.graceMinutes! * 60_000).toISOString()
            const ends = old.expiresAt !== null && old.expiresAt < graceEnds ? old.expiresAt : graceEnds
            await tx.update(apiKeys).set({ expiresAt: ends, replacedBy: row.id }).where(eq(apiKeys.id, old.id))
            await add(tx, row, now)
            return { ...shown(row), key: secret }
          }),
        ),
    )
