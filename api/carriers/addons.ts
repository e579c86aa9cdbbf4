/** Carrier addons (document 1): connecting the store to carriers, whose credentials are verified before they are stored. */
import { eq } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { addons, CARRIERS, LABEL_MODES, TEMPLATES, type AddonConfig, type Carrier } from '../../db/store/addons.ts'
import { shippingMethods } from '../../db/store/checkout.ts'
import { conflict, Refusal, wrong } from '../values/refusal.ts'
import { resource, type Call } from '../http/route.ts'
import { Body, Counted, deleted, Deleted, Nullable, OneOf, Text, Type } from '../http/schema.ts'
import { Addon, findAddon, isManageable, sealed, statusOf } from './addon.ts'
import {
  questionA,
  questionB,
  verify,
  type AddonEnvironment,
  type CredentialsA,
  type CredentialsB,
  type Verified,
} from '../outside/carriers.ts'

const TYPES = ['shipping', 'analytics', 'products', 'invoicing', 'orders'] as const
const ENVIRONMENTS = ['live', 'test'] as const
/** The pattern of a text that an HTTP header can carry as it is. */
const PRINTABLE = '^[\\x21-\\x7e]+$'
/** The same, and no dots alone: in a path they would lead elsewhere. */
const PATH_PART = '^\\.*[\\x21-\\x2d\\x2f-\\x7e][\\x21-\\x7e]*$'

const environment = OneOf(ENVIRONMENTS, { description: 'Whose credentials these are; in the sandbox, `test` alone' })
const InputA = Body(
  'ConnectCarrierAInput',
  [
    {
      environment: 'live',
      login: 'stoa-goods',
      password: 'a-long-password',
      trackApiUser: 'stoa-goods-tracking',
      trackApiPassword: 'another-long-password',
      labelMode: 'one_label_on_a4_pdf',
    },
  ],
  {
    environment,
    login: Text(1, 200, { examples: ['stoa-goods'] }),
    password: Text(1, 1000, { description: 'Never returned', examples: ['a-long-password'] }),
    trackApiUser: Type.Optional(
      Nullable(Text(0, 200, { examples: ['stoa-goods-tracking'] }), { description: 'Left out or blank: the stored one is cleared' }),
    ),
    trackApiPassword: Type.Optional(Nullable(Text(0, 1000, { examples: ['another-long-password'] }), { description: 'Never returned' })),
    labelMode: Type.Optional(Nullable(OneOf(LABEL_MODES), { description: 'For both environments; left out: stays; null: the default' })),
  },
)
const InputB = Body('ConnectCarrierBInput', [{ environment: 'live', token: 'a-long-token', orgId: '10042', fallbackTemplate: 'small' }], {
  environment,
  token: Text(1, 4000, { pattern: PRINTABLE, description: 'Never returned', examples: ['a-long-token'] }),
  orgId: Text(1, 100, { pattern: PATH_PART, examples: ['10042'] }),
  geowidgetToken: Type.Optional(
    Nullable(Text(0, 4000), { description: "For the point picker in buyers' browsers; left out or blank: the stored one is cleared" }),
  ),
  fallbackTemplate: Type.Optional(
    Nullable(OneOf(TEMPLATES), {
      description: 'For both environments; left out: stays; null: none. Used when neither a shipment nor its products decide',
    }),
  ),
})

const given = (text: string | null | undefined) => text?.trim() || null

/** Refuses credentials that the carrier rejects, or can't be asked about. The sandbox asks the carrier's test system alone. */
async function requireGood(
  carrier: Verified,
  call: Pick<Call<unknown, { environment: AddonEnvironment }>, 'services' | 'session' | 'body'>,
  question: Parameters<typeof verify>[3],
) {
  if (call.session.environment === 'sandbox' && call.body.environment === 'live')
    throw wrong('environment', 'must be test: the sandbox never reaches a real carrier')
  await verify(call.services.carriers, carrier, call.body.environment, question)
}

/** Stores the credentials of one environment, and what holds for both. */
const connect = (
  { body, now, clock, write }: Pick<Call<unknown, { environment: AddonEnvironment }>, 'body' | 'now' | 'clock' | 'write'>,
  name: Verified,
  credentials: string,
  config: AddonConfig = {},
) =>
  write(async (tx) => {
    const row = await findAddon(tx, name)
    const kept = row ?? { id: clock.id(), name, config: {}, live: null, test: null, createdAt: now, updatedAt: now }
    const next = { ...kept, config: { ...kept.config, ...config }, [body.environment]: credentials, updatedAt: now }
    await tx.insert(addons).values(next).onConflictDoUpdate({ target: addons.id, set: next })
    return statusOf(name, next)
  })

/** Takes a carrier's credentials away: of one environment, or all with the connection, unless shipping methods need it. */
async function disconnect(tx: Db, name: Carrier, environment: AddonEnvironment | undefined, now: string) {
  const row = await findAddon(tx, name)
  if (!row) throw new Refusal(404, `${name} is not connected`)
  if (environment) {
    if (row[environment] === null) throw new Refusal(404, `${name} has no ${environment} credentials`)
    await tx
      .update(addons)
      .set({ [environment]: null, updatedAt: now })
      .where(eq(addons.id, row.id))
    return deleted
  }
  const methods = await tx.$count(shippingMethods, eq(shippingMethods.addonId, row.id))
  if (methods)
    throw conflict(`${methods === 1 ? 'a shipping method uses' : `${methods} shipping methods use`} ${name}: unlink first`, { methods })
  await tx.delete(addons).where(eq(addons.id, row.id))
  return deleted
}

const scopes = { read: 'settings:read', write: 'settings:write' } as const
const connecting = {
  scope: scopes.write,
  description: 'The carrier is asked whether the credentials are good before they are stored. They replace those of the same environment.',
  responses: { 200: Addon },
  refuses: [502],
}
const disconnecting = { scope: scopes.write, responses: { 200: Deleted }, refuses: [404, 409] }

/** `carrier_a` as a part of an operation's name. */
const worded = (name: Carrier) => `Carrier${name.slice(-1).toUpperCase()}`

export const addonRoutes = resource('orders', '/addons').get(
  '',
  {
    operationId: 'listAddons',
    summary: 'List addons',
    description: 'Those that are connected, and those that the API could connect.',
    scope: scopes.read,
    query: { type: Type.Optional(OneOf(TYPES)) },
    responses: { 200: Counted(Addon) },
    stored: true,
  },
  async ({ db, query: { type } }) => {
    const rows = new Map((await db.select().from(addons)).map((row) => [row.name, row]))
    const names = type === undefined || type === 'shipping' ? CARRIERS.filter((name) => rows.has(name) || isManageable(name)) : []
    return { data: names.map((name) => statusOf(name, rows.get(name))), meta: { count: names.length } }
  },
)
for (const name of CARRIERS)
  addonRoutes.get(
    `/${name}`,
    {
      operationId: `get${worded(name)}`,
      summary: `Read the status of ${name}`,
      scope: scopes.read,
      responses: { 200: Addon },
      stored: true,
    },
    async ({ db }) => statusOf(name, await findAddon(db, name)),
  )
addonRoutes
  .put(
    '/carrier_a',
    {
      operationId: 'connectCarrierA',
      summary: 'Connect carrier_a, or change its credentials',
      ...connecting,
      body: InputA,
      prepare: (call) => requireGood('carrier_a', call, questionA(call.body)),
    },
    (call) => {
      const { login, password, trackApiUser, trackApiPassword, labelMode } = call.body
      const user = given(trackApiUser)
      const credentials: CredentialsA = { login, password, trackApiUser: user, trackApiPassword: user && given(trackApiPassword) }
      return connect(
        call,
        'carrier_a',
        sealed(call.services.secrets, 'carrier_a', call.body.environment, credentials),
        labelMode === undefined ? {} : { labelMode: labelMode ?? undefined },
      )
    },
  )
  .put(
    '/carrier_b',
    {
      operationId: 'connectCarrierB',
      summary: 'Connect carrier_b, or change its credentials',
      ...connecting,
      body: InputB,
      prepare: (call) => requireGood('carrier_b', call, questionB(call.body)),
    },
    (call) => {
      const { token, orgId, geowidgetToken, fallbackTemplate } = call.body
      const credentials: CredentialsB = { token, orgId, geowidgetToken: given(geowidgetToken) }
      const config = fallbackTemplate === undefined ? {} : { fallbackTemplate: fallbackTemplate ?? undefined }
      return connect(call, 'carrier_b', sealed(call.services.secrets, 'carrier_b', call.body.environment, credentials), config)
    },
  )
  .put(
    '/carrier_c',
    {
      operationId: 'connectCarrierC',
      summary: 'Refuse to connect carrier_c',
      description: 'Always 400: it connects by OAuth in an admin panel, which this release does not have.',
      scope: scopes.write,
      responses: {},
    },
    () => {
      throw new Refusal(400, 'carrier_c connects by OAuth in an admin panel, which this release does not have')
    },
  )
for (const name of CARRIERS)
  addonRoutes.delete(
    `/${name}`,
    {
      operationId: `disconnect${worded(name)}`,
      summary: `Disconnect ${name}`,
      ...disconnecting,
      ...(isManageable(name)
        ? {
            query: {
              environment: Type.Optional(OneOf(ENVIRONMENTS, { description: 'Clears these credentials alone; the addon stays connected' })),
            },
          }
        : {}),
    },
    ({ query, now, write }) => write((tx) => disconnect(tx, name, (query as { environment?: AddonEnvironment }).environment, now)),
  )
