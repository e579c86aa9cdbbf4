/** Instants: what the API takes as ISO 8601, and the form in which it gives them back. */

const FORM = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/
/** The last millisecond of the year 9999. */
export const LAST = 253_402_300_799_999
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/**
 * Milliseconds since 1970 of an ISO 8601 date and time with offset, or null: February 30, hour 24, leap seconds and years
 * outside 1900-9999 are refused, where `new Date` would roll over silently.
 */
export function parseInstant(text: string): number | null {
  const match = FORM.exec(text)
  if (!match) return null
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [number, number, number, number, number, number]
  const leap = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 1 : 0
  if (year < 1900 || month < 1 || month > 12 || day < 1 || day > DAYS[month - 1]! + leap) return null
  if (hour > 23 || minute > 59 || second > 59) return null
  const zone = match[8]!
  if (zone !== 'Z' && (Number(zone.slice(1, 3)) > 14 || Number(zone.slice(4)) > 59)) return null
  const time = Date.parse(text)
  // An offset can lead out of the years whose texts sort as they follow each other.
  return Number.isNaN(time) || time > LAST ? null : time
}

/** An instant so many ms later, in the years whose texts sort as they follow each other. */
export const later = (instant: string, ms: number) => new Date(Math.min(Date.parse(instant) + ms, LAST)).toISOString()

/** Whether a text is a day of the calendar: `2026-03-29`. */
export const isDay = (text: string) => parseInstant(`${text}T00:00:00Z`) !== null

/** The day of an instant where it is: `2026-03-29`. */
export const dayIn = (timezone: string, instant: string) =>
  Temporal.Instant.from(instant).toZonedDateTimeISO(timezone).toPlainDate().toString()

/** An instant as people read it in English, where a store is: `Sunday, December 5, 2027 at 10:00 AM PST`. */
export const spoken = (instant: string, timezone: string, locale: string) =>
  new Intl.DateTimeFormat(locale.startsWith('en') ? locale : 'en-GB', {
    ...{ weekday: 'long', year: 'numeric', month: 'long', day: 'numeric', hour: 'numeric', minute: '2-digit' },
    ...{ timeZone: timezone, timeZoneName: 'short' },
  }).format(new Date(instant))

/** The wire form of an instant that a schema has checked: UTC with milliseconds. Null and undefined pass through. */
export function utc<T extends string | null | undefined>(text: T): T {
  return (typeof text === 'string' ? new Date(parseInstant(text)!).toISOString() : text) as T
}

/** A time zone by its IANA name, as it is written there (`Europe/Warsaw`); null for an offset, and for what is none. */
export function timeZoneOf(text: string): string | null {
  if (!/^[A-Za-z]/.test(text)) return null
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone
  } catch {
    return null
  }
}
