/** The point of a carrier that a buyer has chosen, kept as the carrier's picker gives it. */
import { invalid } from '../values/refusal.ts'
import { Nullable, Type, type Static } from '../http/schema.ts'

/** As JSON, in bytes (document 3, Clarifications): a point is an id and an address. */
const POINT_BYTES = 4_096

export const PickupPoint = Nullable(
  Type.Object(
    {},
    {
      additionalProperties: true,
      maxProperties: 50,
      description: `As the carrier's picker gives it; at most ${POINT_BYTES} bytes of JSON`,
    },
  ),
)

/** A point as it is stored; refuses one that is too large. */
export function pickupPointOf(point: Static<typeof PickupPoint>): Record<string, unknown> | null {
  if (point && Buffer.byteLength(JSON.stringify(point)) > POINT_BYTES)
    throw invalid([
      { code: 'too_big', message: `must be at most ${POINT_BYTES} bytes of JSON`, path: ['pickupPoint'], maximum: POINT_BYTES },
    ])
  return point
}
