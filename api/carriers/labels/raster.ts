/** A label as dots, for printers that take pictures: every letter comes out, and no text ever stands among a printer's commands. */
import { loadSharp } from '../../outside/sharp.ts'
import { outlinesOf } from '../../printing/font.ts'
import type { Mark } from '../../printing/marks.ts'
import { LABEL_HEIGHT_MM, LABEL_WIDTH_MM } from './layout.ts'

/** Black and white dots, rows from the top, eight to a byte, the first in the highest bit; 1 is black. */
export interface Bitmap {
  width: number
  height: number
  rowBytes: number
  bytes: Uint8Array
}

/** The rows of a picture, top first. */
export const rowsOf = ({ bytes, rowBytes, height }: Bitmap): Uint8Array[] =>
  Array.from({ length: height }, (_, y) => bytes.subarray(y * rowBytes, (y + 1) * rowBytes))

const DOTS_PER_MM = 8

/** A mark in SVG, in dots: outlines in place of text, so that no font of the system has a say; a box begins and ends at a dot. */
function shape(mark: Mark): string {
  const dots = (mm: number) => Math.round(mm * DOTS_PER_MM)
  if (mark.kind === 'box') {
    const [left, top, right, bottom] = [mark.x, mark.y, mark.x + mark.width, mark.y + mark.height].map(dots)
    return `<path d="M${left} ${top}H${right}V${bottom}H${left}Z"/>`
  }
  const { unitsPerEm, letters } = outlinesOf(mark.text, mark.bold)
  const scale = (mark.size * DOTS_PER_MM) / unitsPerEm
  const placed = `translate(${mark.x * DOTS_PER_MM} ${mark.y * DOTS_PER_MM}) scale(${scale} ${-scale})`
  const paths = letters.map(({ at, path }) => `<path transform="translate(${at})" d="${path}"/>`)
  return `<g fill="${mark.white ? '#fff' : '#000'}" transform="${placed}">${paths.join('')}</g>`
}

/** Draws a label's marks, turned by a quarter clockwise: the roll is 100 mm wide, and the left edge leaves the printer first. */
export async function drawn(marks: readonly Mark[]): Promise<Bitmap> {
  const [width, height] = [LABEL_HEIGHT_MM * DOTS_PER_MM, LABEL_WIDTH_MM * DOTS_PER_MM]
  const turned = `<g transform="translate(${width}) rotate(90)">${marks.map(shape).join('')}</g>`
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${turned}</svg>`
  const sharp = await loadSharp()
  const data = await sharp(Buffer.from(svg)).flatten({ background: '#fff' }).toColourspace('b-w').raw().toBuffer()
  const rowBytes = Math.ceil(width / 8)
  const bytes = new Uint8Array(rowBytes * height)
  // A dot that is at least half covered is black.
  for (let y = 0, i = 0; y < height; y++)
    for (let x = 0; x < width; x++) if (data[i++]! < 128) bytes[y * rowBytes + (x >> 3)]! |= 0x80 >> (x & 7)
  return { width, height, rowBytes, bytes }
}
