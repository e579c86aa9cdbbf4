/** Answers that a model can take in: at most 20 KB at once, and a way to read on. */

import type { ListForm } from '../openapi/operations.ts'

/** The most bytes of an answer that are shown at once. */
export const ANSWER_MAX_BYTES = 20_000
/** What a note about the rest may take. */
const NOTE_BYTES = 300

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

/** As many of the first entries of a list as fit; null when not even one does. */
function firstOf(value: Record<string, any>, { entries, by }: ListForm): string | null {
  // A cursor leads behind the whole page: of a part of one it would leave out the rest.
  const { [entries]: listed, nextCursor: _, ...rest } = value
  let room = ANSWER_MAX_BYTES - NOTE_BYTES - bytesOf(rest)
  const count = listed.findIndex((entry: unknown) => (room -= bytesOf(entry) + 1) < 0)
  if (count <= 0) return null
  const { offset = 0 } = rest.meta ?? rest.pagination ?? {}
  const next = by === 'offset' ? { offset: offset + count } : { limit: count }
  return JSON.stringify({ ...rest, [entries]: listed.slice(0, count), truncated: { shown: count, of: listed.length, next } })
}

/** The end of a piece of UTF-8 that begins at `from`: no character is cut in two. */
function endOf(bytes: Uint8Array, from: number): number {
  let end = Math.min(bytes.length, from + ANSWER_MAX_BYTES - NOTE_BYTES)
  while (end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--
  return end
}

interface Showing {
  /** The form of the list that the answer is, where it is one that can be asked for in smaller pages. */
  list: ListForm | null
  /** The byte of the text to begin at. */
  from: number
  /** How the rest is to be had where it can't be asked for again. */
  rest: string | null
}

/**
 * The parts of an answer that are shown: the whole text, the first entries of a list, or a piece of the text from the byte `from` on with a
 * note.
 */
export function trimmed(text: string, { list, from, rest }: Showing): string[] {
  const bytes = Buffer.from(text)
  if (from === 0 && bytes.length <= ANSWER_MAX_BYTES) return [text]
  const first = from === 0 && list && list.pageMax !== null ? firstOf(JSON.parse(text), list) : null
  if (first) return [first]
  const end = endOf(bytes, from)
  const next = end >= bytes.length ? null : (rest ?? { answerFrom: end })
  return [bytes.toString('utf8', from, end), JSON.stringify({ truncated: { fromByte: from, toByte: end, of: bytes.length, next } })]
}
