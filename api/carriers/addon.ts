/** A carrier addon: its row, its status on the wire, and its credentials at rest. */
import { eq } from 'drizzle-orm'
import type { Reader } from '../../db/driver.ts'
import { addons, CARRIERS, LABEL_MODES, TEMPLATES, type Carrier } from '../../db/store/addons.ts'
import { Named, Nullable, OneOf, Type } from '../http/schema.ts'
import type { Secrets } from '../outside/secrets.ts'
import type { AddonEnvironment } from '../outside/carriers.ts'

export type AddonRow = typeof addons.$inferSelect

const Configured = Type.Object({ configured: Type.Boolean({ description: 'Credentials are stored' }) })
export const Addon = Named('Addon', {
  name: OneOf(CARRIERS),
  type: Type.Literal('shipping'),
  connected: Type.Boolean(),
  manageable: Type.Boolean({ description: 'The API can connect it' }),
  environments: Nullable(Type.Object({ live: Configured, test: Configured }), {
    description: 'Null while not connected, and for a carrier that connects by OAuth',
  }),
  config: Type.Union(
    [Type.Object({ labelMode: OneOf(LABEL_MODES) }), Type.Object({ fallbackTemplate: Nullable(OneOf(TEMPLATES)) }), Type.Null()],
    { description: 'Null while not connected, and for carrier_c' },
  ),
  createdAt: Nullable(Type.String()),
  updatedAt: Nullable(Type.String()),
})

/** The carriers that connect with credentials; the other one connects by OAuth. */
export const isManageable = (name: Carrier): boolean => name !== 'carrier_c'

const configOf = ({ name, config }: AddonRow) =>
  name === 'carrier_a'
    ? { labelMode: config.labelMode ?? LABEL_MODES[0] }
    : name === 'carrier_b'
      ? { fallbackTemplate: config.fallbackTemplate ?? null }
      : null

/** The status of a carrier; without a row it is not connected. */
export const statusOf = (name: Carrier, row: AddonRow | undefined) => ({
  name,
  type: 'shipping' as const,
  connected: row !== undefined,
  manageable: isManageable(name),
  environments: row && isManageable(name) ? { live: { configured: row.live !== null }, test: { configured: row.test !== null } } : null,
  config: row ? configOf(row) : null,
  createdAt: row?.createdAt ?? null,
  updatedAt: row?.updatedAt ?? null,
})

/** The row of a carrier that is connected. */
export async function findAddon(db: Reader, name: Carrier): Promise<AddonRow | undefined> {
  const [row] = await db.select().from(addons).where(eq(addons.name, name))
  return row
}

/** Whose credentials are used: `live` where there are some, else `test`; null where there are neither. A carrier without environments is live. */
export const environmentOf = (row: Pick<AddonRow, 'name' | 'live' | 'test'>): AddonEnvironment | null =>
  row.live !== null || !isManageable(row.name) ? 'live' : row.test !== null ? 'test' : null

export const placeOf = (name: Carrier, environment: AddonEnvironment) => `addon ${name} ${environment}`

/** Credentials as a row keeps them. */
export const sealed = (secrets: Secrets, name: Carrier, environment: AddonEnvironment, credentials: object): string =>
  secrets.seal(credentials, placeOf(name, environment))

/** The environments of a row whose credentials this server's key does not open. */
export const locked = (secrets: Secrets, row: Pick<AddonRow, 'name' | 'live' | 'test'>): AddonEnvironment[] =>
  (['live', 'test'] as const).filter((environment) => {
    const text = row[environment]
    return text !== null && secrets.open(text, placeOf(row.name, environment)) === null
  })

/** The credentials of an environment; null where there are none, or none that this server's key opens. */
export function opened<T>(secrets: Secrets, row: AddonRow, environment: AddonEnvironment): T | null {
  const text = row[environment]
  return text === null ? null : secrets.open<T>(text, placeOf(row.name, environment))
}
