/** The looks of a seeded store, and word to its storefront that what it shows has changed. */
import { sql } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { storefrontChanges } from '../../db/store/builder.ts'
import { brandKit } from '../../db/store/pages.ts'
import { KITS, type KitName } from './kits.ts'

/** Gives a store one of the kits, when one is named; its storefront is built anew in any case. */
export async function seedLooks(tx: Db, look: KitName | null) {
  if (look) {
    const row = { id: 'brand-kit', logo: null, ...KITS[look], updatedAt: new Date().toISOString() }
    await tx.insert(brandKit).values(row).onConflictDoUpdate({ target: brandKit.id, set: row })
  }
  await tx.update(storefrontChanges).set({ count: sql`${storefrontChanges.count} + 1` })
}
