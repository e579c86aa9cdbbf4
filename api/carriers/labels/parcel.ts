/** The size and the barcode of a parcel: pure rules. */

/** A variant's size in mm; a side that nobody gave is missing. */
interface Dimensions {
  length?: number | null
  width?: number | null
  height?: number | null
}
type ParcelTemplate = 'small' | 'medium' | 'large'

/** The inside of carrier_b's parcels in mm, shortest side first; they differ in that one. */
const INSIDE: Record<ParcelTemplate, readonly [number, number, number]> = {
  small: [80, 380, 640],
  medium: [190, 380, 640],
  large: [410, 380, 640],
}
/** The longest text whose bars are wide enough for a label of 160 mm. */
const BARCODE_MAX = 40

/**
 * The smallest template that takes all units, each lying flat on the other; null when a size is unknown, or when they do not fit so.
 * They may fit in another way: whoever packs can say so.
 */
export function templateFor(units: readonly { quantity: number; size: Dimensions | null }[]): ParcelTemplate | null {
  let height = 0
  let longest = 0
  let middle = 0
  for (const { quantity, size } of units) {
    const sides = [size?.length, size?.width, size?.height]
    if (!sides.every((side): side is number => typeof side === 'number' && side > 0)) return null
    const [flat, second, first] = sides.toSorted((a, b) => a - b) as [number, number, number]
    height += flat * quantity
    middle = Math.max(middle, second)
    longest = Math.max(longest, first)
  }
  if (!units.length) return null
  for (const template of ['small', 'medium', 'large'] as const) {
    const [inside, width, length] = INSIDE[template]
    if (height <= inside && middle <= width && longest <= length) return template
  }
  return null
}

/** Whether a text can be a Code 128 barcode that fits on a label. */
export const isBarcodable = (text: string) => text.length <= BARCODE_MAX && /^[\x20-\x7e]+$/.test(text) && text.trim() !== ''

/** The number of a shipment that has no other: 20 digits made from its id, the last two of which check the others (ISO 7064, mod 97). */
export function numberOf(shipmentId: string): string {
  const digits = String(BigInt(`0x${shipmentId.replaceAll('-', '')}`) % 10n ** 18n).padStart(18, '0')
  return digits + String(98n - ((BigInt(digits) * 100n) % 97n)).padStart(2, '0')
}
