/**
 * Where the pages of a long list begin: remembered as they are read, so that whoever pages through 100,000 rows does not have the
 * database count its way to each page anew. They hold until the list changes.
 */
import type { Reader } from '../../../db/driver.ts'

/** A page begins at this row, or just after it. */
interface Mark {
  id: string
  inclusive: boolean
}

/** Marks remembered for one store: about 100 bytes each. */
const MARKS_MAX = 5_000

const remembered = new WeakMap<Reader, { changes: number; marks: Map<string, Mark> }>()

/** The marks of a store's list as it is after so many changes. */
function marksOf(db: Reader, changes: number): Map<string, Mark> {
  const known = remembered.get(db)
  if (known?.changes === changes && known.marks.size < MARKS_MAX) return known.marks
  const marks = new Map<string, Mark>()
  remembered.set(db, { changes, marks })
  return marks
}

/** Where the page at an offset begins; undefined when it has not been read, nor the one before it. */
export const markAt = (db: Reader, changes: number, list: string, offset: number): Mark | undefined =>
  marksOf(db, changes).get(`${list} ${offset}`)

/** Remembers where a page that was read began, and where the next one does. */
export function remember(db: Reader, changes: number, list: string, offset: number, ids: readonly string[]) {
  if (!ids.length) return
  const marks = marksOf(db, changes)
  marks.set(`${list} ${offset}`, { id: ids[0]!, inclusive: true })
  marks.set(`${list} ${offset + ids.length}`, { id: ids.at(-1)!, inclusive: false })
}
