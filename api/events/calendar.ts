/** Events as calendars read them (RFC 5545). */
import { ICalCalendar, ICalCalendarMethod } from 'ical-generator'

/** The part of an event that a calendar shows; it has no end, because nobody says when it is over. */
export interface Dated {
  id: string
  name: string
  summary: string | null
  startsAt: string
  location: string | null
  createdAt: string
  updatedAt: string
}

/** Text as RFC 5545 lets it stand: line breaks are the one control that it knows. */
const plain = (text: string | null) => text && text.replace(/[\u0000-\u0009\u000b-\u001f\u007f]/g, ' ')

/** A calendar of one event; `host` makes its id unique in the world, so that a calendar that has it already changes it. */
export function calendarOf({ id, name, summary, startsAt, location, createdAt, updatedAt }: Dated, host: string): string {
  const calendar = new ICalCalendar({ prodId: { company: 'Stoa', product: 'Events' }, method: ICalCalendarMethod.PUBLISH })
  calendar.createEvent({
    ...{ id: `${id}@${host}`, summary: plain(name)!, start: new Date(startsAt), location: plain(location) },
    ...{ description: plain(summary), stamp: new Date(updatedAt), lastModified: new Date(updatedAt) },
    // Grows with each change, as calendars want it of one that is moved.
    sequence: Math.floor((Date.parse(updatedAt) - Date.parse(createdAt)) / 1_000),
  })
  return `${calendar.toString()}\r\n`
}
