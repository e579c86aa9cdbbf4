/** Leases of the whole installation: what one process at a time does, whichever of them. */
import { eq, lte, or } from 'drizzle-orm'
import type { Handle } from '../open.ts'
import { leases } from './tables.ts'

interface Lease {
  name: string
  /** Tells the holder from all others. */
  token: string
  now: Date
  /** How long it holds from now on, unless it is taken again. */
  ms: number
}

/** Takes a lease that nobody holds, or that `token` holds already; whether it is held now. */
export function takeLease(control: Handle, { name, token, now, ms }: Lease): Promise<boolean> {
  const until = new Date(now.getTime() + ms).toISOString()
  return control.write(async (tx) => {
    const taken = await tx
      .insert(leases)
      .values({ name, token, until })
      .onConflictDoUpdate({
        target: leases.name,
        set: { token, until },
        setWhere: or(lte(leases.until, now.toISOString()), eq(leases.token, token)),
      })
      .returning({ name: leases.name })
    return taken.length > 0
  })
}
