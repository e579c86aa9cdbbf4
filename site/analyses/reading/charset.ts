/** In which characters a page is written (WHATWG Encoding): its byte-order mark, what HTTP says, what it says itself. */

/** A page says so itself within these bytes. */
export const SNIFFED_BYTES = 1_024

const BYTE_ORDER_MARKS: readonly [label: string, bytes: readonly number[]][] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]

function decoderFor(label: string | undefined): TextDecoder | null {
  if (!label) return null
  try {
    return new TextDecoder(label.trim())
  } catch {
    return null
  }
}

/** `<meta charset>` or `<meta http-equiv>`; whoever writes UTF-16 can't say so in ASCII. */
function declared(head: string): string | undefined {
  const label = /<meta\b[^>]{0,300}?charset\s*=\s*["']?\s*([\w:.-]{1,40})/i.exec(head)?.[1]
  return label && /^utf-?16/i.test(label) ? 'utf-8' : label
}

/** A decoder for a page that begins with `start`. What says nothing is UTF-8 where it can be, else Windows-1252. */
export function decoderOf(start: Uint8Array, contentType: string | null): TextDecoder {
  const mark = BYTE_ORDER_MARKS.find(([, bytes]) => bytes.every((byte, i) => start[i] === byte))
  if (mark) return new TextDecoder(mark[0])
  const head = start.subarray(0, SNIFFED_BYTES)
  const told =
    decoderFor(/charset\s*=\s*["']?([\w:.-]{1,40})/i.exec(contentType ?? '')?.[1]) ??
    decoderFor(declared(Buffer.from(head).toString('latin1')))
  if (told) return told
  try {
    // The last character may have been cut.
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true })
    return new TextDecoder('utf-8')
  } catch {
    return new TextDecoder('windows-1252')
  }
}
