/** Answers that a model can take in: at most 20 KB at once, and a way to read on. */

/** The most bytes of an answer that are shown at once. */
export const ANSWER_MAX_BYTES = 20_000
/** What a note about the rest may take. */
const NOTE_BYTES = 300

interface Listed {
  data: unknown[]
  nextCursor?: string | null
  meta?: { offset?: number }
}

/** How to read on: by the place in a list, by smaller pages, or by the place in the text. */
export type ReadOn = 'offset' | 'limit' | 'text'

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
const isListed = (value: unknown): value is Listed => Array.isArray((value as Listed | null)?.data)

/** As many of the first entries of a list as fit; null when not even one does. */
function firstOf(list: Listed, by: 'offset' | 'limit'): string | null {
  // A cursor leads behind the whole page: of a part of one it would leave out the rest.
  const { data, nextCursor: _, ...rest } = list
  let room = ANSWER_MAX_BYTES - NOTE_BYTES - bytesOf(rest)
  const count = data.findIndex((entry) => (room -= bytesOf(entry) + 1) < 0)
  if (count <= 0) return null
  const next = by === 'offset' ? { offset: (list.meta?.offset ?? 0) + count } : { limit: count }
  const truncated = { shown: count, of: data.length, next }
  return JSON.stringify({ ...rest, data: data.slice(0, count), truncated })
}

/** The end of a piece of UTF-8 that begins at `from`: no character is cut in two. */
function endOf(bytes: Uint8Array, from: number): number {
  let end = Math.min(bytes.length, from + ANSWER_MAX_BYTES - NOTE_BYTES)
  while (end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--
  return end
}

/**
 * The parts of an answer that are shown: the whole text, the first entries of a list, or a piece of the text from the byte `from` on with a
 * note. `rest` tells how the rest is to be had where it can't be asked for again.
 */
export function trimmed(text: string, by: ReadOn, from: number, rest: string | null): string[] {
  const bytes = Buffer.from(text)
  if (from === 0 && bytes.length <= ANSWER_MAX_BYTES) return [text]
  if (from === 0 && by !== 'text') {
    const value: unknown = JSON.parse(text)
    const first = isListed(value) ? firstOf(value, by) : null
    if (first) return [first]
  }
  const end = endOf(bytes, from)
  const next = end >= bytes.length ? null : (rest ?? { answerFrom: end })
  return [bytes.toString('utf8', from, end), JSON.stringify({ truncated: { fromByte: from, toByte: end, of: bytes.length, next } })]
}
