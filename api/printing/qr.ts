/** QR codes (ISO/IEC 18004): as marks on paper, and as small pictures in mails. */
import encodeQR from 'qr'
import { loadSharp } from '../outside/sharp.ts'
import { box, type Mark } from './marks.ts'

/** Modules of white around a code. */
const QUIET = 4
/** Rows reach into the next one, or some viewers show a gap between them. */
const OVERLAP = 1.02
/** Pixels of a module in a picture. */
const SCALE = 6

/** The modules of a text's code, dark ones true, with the white around them. */
const modulesOf = (text: string) => encodeQR(text, 'raw', { ecc: 'medium', border: QUIET })

/** A code in a square of `size` mm, white edge included; what is dark side by side in a row is one mark. */
export function qrMarks(text: string, at: { x: number; y: number; size: number }): Mark[] {
  const rows = modulesOf(text)
  const module = at.size / rows.length
  return rows.flatMap((row, y) => {
    const marks: Mark[] = []
    for (let x = 0; x < row.length; x++) {
      const from = x
      while (row[x]) x++
      if (x > from) marks.push(box(at.x + from * module, at.y + y * module, (x - from) * module, module * OVERLAP))
    }
    return marks
  })
}

/** A code as a PNG of some 500 bytes. */
export async function qrPng(text: string): Promise<Uint8Array> {
  const rows = modulesOf(text)
  const sharp = await loadSharp()
  const pixels = Buffer.from(rows.flatMap((row) => row.map((isDark) => (isDark ? 0 : 255))))
  const width = rows.length
  return sharp(pixels, { raw: { width, height: width, channels: 1 } })
    .resize(width * SCALE, width * SCALE, { kernel: 'nearest' })
    .png({ palette: true, colours: 2 })
    .toBuffer()
}
