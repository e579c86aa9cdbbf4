/** A picture in the languages of label printers. None of what they are sent is text: it can't be taken for a command. */
import { rowsOf, type Bitmap } from './raster.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex').toUpperCase()

/** How often a digit comes, as ZPL writes it: `z` is 400, `g` 20, `Y` 19, `G` 1. */
function times(count: number): string {
  if (count > 400) return 'z' + times(count - 400)
  const [twenties, ones] = [Math.floor(count / 20), count % 20]
  return (twenties ? String.fromCharCode(102 + twenties) : '') + (ones ? String.fromCharCode(70 + ones) : '')
}

/** A row of hexadecimal digits, shortened as ZPL allows: runs are counted, and zeros up to its end are a comma. */
const shortened = (row: string) => {
  const end = row.replace(/(?<!0)0+$/, '')
  const rest = end.length % 2 && end.length < row.length ? `${end}0` : end
  return (
    rest.replace(/(.)\1*/g, (run, digit: string) => (run.length > 1 ? times(run.length) : '') + digit) +
    (rest.length < row.length ? ',' : '')
  )
}

/** ZPL II, 8 dots a mm: one label of one graphic field; a row that is the one above is a colon. */
export function zpl(bitmap: Bitmap): Uint8Array {
  const rows = rowsOf(bitmap).map((row) => shortened(hex(row)))
  const data = rows.map((row, i) => (row === rows[i - 1] ? ':' : row)).join('')
  const size = bitmap.bytes.length
  return Buffer.from(
    `^XA^PW${bitmap.width}^LL${bitmap.height}^LH0,0^LS0^FO0,0^GFA,${size},${size},${bitmap.rowBytes},${data}^FS^PQ1^XZ\n`,
    'latin1',
  )
}

/** The gap between the labels of a roll, in dots. */
const GAP_DOTS = 24

/** EPL2, 8 dots a mm: one label of one binary graphic, in which 0 is black. */
export function epl(bitmap: Bitmap): Uint8Array {
  const head = `\nN\nq${bitmap.width}\nQ${bitmap.height},${GAP_DOTS}\nGW0,0,${bitmap.rowBytes},${bitmap.height},`
  return Buffer.concat([Buffer.from(head, 'latin1'), bitmap.bytes.map((byte) => ~byte), Buffer.from('\nP1\n', 'latin1')])
}

/** A PCX file of two colours, 0 black. */
function pcx(bitmap: Bitmap): Uint8Array {
  const { width, height, rowBytes } = bitmap
  const head = Buffer.alloc(128)
  head.set([10, 5, 1, 1])
  for (const [i, word] of [0, 0, width - 1, height - 1, 203, 203].entries()) head.writeUInt16LE(word, 4 + i * 2)
  head.set([0, 0, 0, 255, 255, 255], 16)
  // A row has an even number of bytes; the last one may be filled up.
  const even = rowBytes + (rowBytes % 2)
  head[65] = 1
  head.writeUInt16LE(even, 66)
  head.writeUInt16LE(1, 68)
  const out: number[] = []
  for (const row of rowsOf(bitmap)) {
    for (let x = 0; x < even;) {
      const byte = ~(row[x] ?? 0) & 0xff
      let run = 1
      while (run < 63 && x + run < even && (~(row[x + run] ?? 0) & 0xff) === byte) run++
      if (run > 1 || byte >= 0xc0) out.push(0xc0 | run)
      out.push(byte)
      x += run
    }
  }
  return Buffer.concat([head, Uint8Array.from(out)])
}

const STX = '\x02'
/** The name of the picture in the printer's memory, by which it is removed again. */
const IMAGE = 'STOA'

/** DPL, 8 dots a mm: a picture (PCX, in hexadecimal digits), and one label with it. */
export function dpl(bitmap: Bitmap): Uint8Array {
  const commands = [
    `${STX}n`,
    `${STX}xCG${IMAGE}`,
    `${STX}ICAp${IMAGE}`,
    hex(pcx(bitmap)),
    `${STX}L`,
    'D11',
    `1Y1100000000000${IMAGE}`,
    'Q0001',
    'E',
    `${STX}xCG${IMAGE}`,
    `${STX}zC`,
  ]
  return Buffer.from(`${commands.join('\r')}\r`, 'latin1')
}
