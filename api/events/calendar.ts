/** Events as calendars read them (RFC 5545). */
import { ICalCalendar, ICalCalendarMethod } from 'ical-generator'

/** The part of an event that a calendar shows; it has no end, because nobody says when it is over. */
export interface Dated {
  id: string
  name: string
  summary: string | null
  startsAt: string
  location: string | null
  updatedAt: string
}

/** A calendar of one event; `host` makes its id unique in the world, so that a calendar that has it already changes it. */
export function calendarOf({ id, name, summary, startsAt, location, updatedAt }: Dated, host: string): string {
  const calendar = new ICalCalendar({ prodId: { company: 'Stoa', product: 'Events' }, method: ICalCalendarMethod.PUBLISH })
  calendar.createEvent({
    ...{ id: `${id}@${host}`, summary: name, start: new Date(startsAt), location },
    ...{ description: summary, stamp: new Date(updatedAt), lastModified: new Date(updatedAt) },
  })
  return calendar.toString()
}
