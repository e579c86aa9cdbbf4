/** Slots repeated by a rule of RFC 5545: the same time of the day where they are, whatever the clocks do. */
import { wrong } from '../values/refusal.ts'
import { dayIn, LAST } from '../values/time.ts'

/** A year of days. */
export const SLOTS_MAX = 366
/** Days or weeks, of which parts a calendar of slots has use for. */
const RULE =
  /^(?:RRULE:)?(?:(?:FREQ=(?:DAILY|WEEKLY)|INTERVAL=[1-9]\d{0,2}|BYDAY=(?:MO|TU|WE|TH|FR|SA|SU)(?:,(?:MO|TU|WE|TH|FR|SA|SU)){0,6}|UNTIL=\d{8}(?:T\d{6}Z)?|COUNT=[1-9]\d{0,3}|WKST=(?:MO|TU|WE|TH|FR|SA|SU))(?:;(?=[A-Z])|$))+$/

const partsOf = (rule: string) =>
  rule
    .replace('RRULE:', '')
    .split(';')
    .map((part) => part.split('=')[0]!)

/** Refuses with 400 a rule that is none of days or weeks, or has no end. */
function requireRule(rule: string) {
  const parts = partsOf(rule)
  if (!RULE.test(rule) || !parts.includes('FREQ') || new Set(parts).size < parts.length)
    throw wrong('rrule', 'must be FREQ=DAILY or FREQ=WEEKLY with INTERVAL, BYDAY, UNTIL, COUNT or WKST, separated by semicolons')
  if (parts.includes('UNTIL') === parts.includes('COUNT')) throw wrong('rrule', 'must have an end: either UNTIL or COUNT')
}

/**
 * The slots of a rule, the first at or after the start of `slot`. A time that a day does not have is left out, of one that it has twice the first
 * is meant (RFC 5545, 3.3.5 and 3.3.10); each is as long as `slot`.
 */
export async function repeated<T extends { startsAt: string; endsAt: string; timezone: string; startsOn: string }>(
  slot: T,
  rule: string,
): Promise<T[]> {
  requireRule(rule)
  // A third of a megabyte that few need.
  const { RRuleTemporal } = await import('rrule-temporal')
  const lengthMs = Date.parse(slot.endsAt) - Date.parse(slot.startsAt)
  let times: Temporal.ZonedDateTime[]
  try {
    const dtstart = Temporal.Instant.from(slot.startsAt).toZonedDateTimeISO(slot.timezone)
    times = new RRuleTemporal({ rruleString: rule, dtstart, temporal: Temporal }).all((_, i) => i <= SLOTS_MAX) as Temporal.ZonedDateTime[]
  } catch (error) {
    throw wrong('rrule', (error as Error).message)
  }
  if (!times.length) throw wrong('rrule', 'gives no slot at all')
  if (times.length > SLOTS_MAX) throw wrong('rrule', `gives more than ${SLOTS_MAX} slots`)
  if (times.at(-1)!.epochMilliseconds + lengthMs > LAST) throw wrong('rrule', 'leads beyond the year 9999')
  return times.map((time) => {
    const startsAt = new Date(time.epochMilliseconds).toISOString()
    const endsAt = new Date(time.epochMilliseconds + lengthMs).toISOString()
    return { ...slot, startsAt, endsAt, startsOn: dayIn(slot.timezone, startsAt) }
  })
}
