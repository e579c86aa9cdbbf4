/** Cursors of lists that are newest first: where a page ended, by instant and id, since two rows may share an instant. */
import { wrong } from '../../values/refusal.ts'

export interface Place {
  at: string
  id: string
}

/** The cursor behind a row; opaque to clients. */
export const cursorOf = ({ at, id }: Place) => Buffer.from(`${at} ${id}`).toString('base64url')

/** Where a cursor points; refuses with 400 what is none. */
export function placeOf(cursor: string): Place {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([0-9a-f-]{36})$/.exec(Buffer.from(cursor, 'base64url').toString())
  if (!match) throw wrong('cursor', 'is not a cursor of this list')
  return { at: match[1]!, id: match[2]! }
}
