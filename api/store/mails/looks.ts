/** How a store looks: its logo, colours and fonts, for whoever renders something for it. */
import type { Reader } from '../../../db/driver.ts'
import { brandKit } from '../../../db/store/pages.ts'

/** The colours of a store that has chosen none. */
export const COLORS = {
  background: '#FFFFFF',
  surface: '#F5F5F4',
  text: '#1C1917',
  muted: '#57534E',
  accent: '#0F766E',
  onAccent: '#FFFFFF',
}
export type Color = keyof typeof COLORS

export type Looks = Awaited<ReturnType<typeof readLooks>>

/** The looks of a store; those of Stoa where it has chosen none. */
export async function readLooks(db: Reader) {
  const [row] = await db.select().from(brandKit)
  if (!row) return { logo: null, colors: COLORS, fonts: { heading: null, body: null }, updatedAt: null }
  return { ...row, colors: { ...COLORS, ...row.colors } }
}
