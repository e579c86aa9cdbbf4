/** Reading labels back, in the test of what they say: printers' languages into dots, dots into a barcode's text. */
import { codesIn, imageOf, type Dots } from '../paper.ts'

const bitsOf = (bytes: Uint8Array, rowBytes: number): Dots => {
  const rows: Dots = []
  for (let at = 0; at < bytes.length; at += rowBytes)
    rows.push(Array.from({ length: rowBytes * 8 }, (_, x) => (bytes[at + (x >> 3)]! & (0x80 >> (x & 7))) !== 0))
  return rows
}

/** What a ZPL label of one graphic field says it is, and its dots. Throws when anything else is in it. */
export function readZpl(text: string): { width: number; length: number; dots: Dots } {
  const found = /^\^XA\^PW(\d+)\^LL(\d+)\^LH0,0\^LS0\^FO0,0\^GFA,(\d+),(\d+),(\d+),([0-9A-Zg-z,:]+)\^FS\^PQ1\^XZ\n$/.exec(text)
  if (!found) throw new Error(`no such ZPL: ${text.slice(0, 100)}`)
  const [width, length, total, same, rowBytes] = found.slice(1, 6).map(Number) as [number, number, number, number, number]
  const digits = rowBytes * 2
  const rows: string[] = []
  let row = ''
  let times = 0
  for (const char of found[6]!) {
    if (char === ':') rows.push(rows.at(-1)!)
    else if (char === ',') row = row.padEnd(digits, '0')
    else if (char >= 'g' && char <= 'z') times += (char.charCodeAt(0) - 102) * 20
    else if (char >= 'G' && char <= 'Y') times += char.charCodeAt(0) - 70
    else {
      row += char.repeat(times || 1)
      times = 0
    }
    if (row.length > digits) throw new Error('a row is too long')
    if (row.length === digits) {
      rows.push(row)
      row = ''
    }
  }
  const bytes = Buffer.from(rows.join(''), 'hex')
  if (bytes.length !== total || total !== same) throw new Error(`${bytes.length} bytes instead of ${total}`)
  return { width, length, dots: bitsOf(bytes, rowBytes) }
}

/** The dots of an EPL label of one graphic. Throws when anything else is in it. */
export function readEpl(bytes: Buffer): { width: number; length: number; dots: Dots } {
  const found = /^\nN\nq(\d+)\nQ(\d+),24\nGW0,0,(\d+),(\d+),/.exec(bytes.subarray(0, 100).toString('latin1'))
  if (!found) throw new Error('no such EPL')
  const [width, length, rowBytes, rows] = found.slice(1).map(Number) as [number, number, number, number]
  const data = bytes.subarray(found[0].length, found[0].length + rowBytes * rows)
  if (bytes.subarray(found[0].length + rowBytes * rows).toString('latin1') !== '\nP1\n') throw new Error('something follows the picture')
  return {
    width,
    length,
    dots: bitsOf(
      data.map((byte) => ~byte),
      rowBytes,
    ),
  }
}

/** The dots of a DPL label of one PCX picture. Throws when anything else is in it. */
export function readDpl(bytes: Buffer): { width: number; length: number; dots: Dots } {
  const found = /^\x02n\r\x02xCGSTOA\r\x02ICApSTOA\r([0-9A-F]+)\r\x02L\rD11\r1Y1100000000000STOA\rQ0001\rE\r\x02xCGSTOA\r\x02zC\r$/.exec(
    bytes.toString('latin1'),
  )
  if (!found) throw new Error('no such DPL')
  const pcx = Buffer.from(found[1]!, 'hex')
  if (pcx[0] !== 10 || pcx[2] !== 1 || pcx[3] !== 1 || pcx[65] !== 1) throw new Error('no PCX of two colours')
  const [width, length, rowBytes] = [pcx.readUInt16LE(8) + 1, pcx.readUInt16LE(10) + 1, pcx.readUInt16LE(66)]
  const data: number[] = []
  for (let at = 128; at < pcx.length; at++) {
    const byte = pcx[at]!
    if (byte >= 0xc0) data.push(...Array<number>(byte & 0x3f).fill(pcx[++at]!))
    else data.push(byte)
  }
  if (data.length !== rowBytes * length) throw new Error(`${data.length} bytes of dots`)
  return {
    width,
    length,
    dots: bitsOf(
      Uint8Array.from(data, (byte) => ~byte),
      rowBytes,
    ),
  }
}

/** The same dots, turned by a quarter against the clock. */
export const turnedBack = (dots: Dots): Dots => {
  const width = dots[0]!.length
  return Array.from({ length: width }, (_, y) => dots.map((row) => row[width - 1 - y]!))
}

/** The texts of the Code 128 barcodes that a reader finds. */
export const barcodes = (dots: Dots) => codesIn(imageOf(dots), 'Code128')
