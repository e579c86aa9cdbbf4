/** Reading what was printed: PDF into text, pictures into the texts of their codes. */
import { readFileSync } from 'node:fs'
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs'
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader'

/** Dots by row, true is black. */
export type Dots = boolean[][]

prepareZXingModule({
  overrides: { wasmBinary: readFileSync('node_modules/zxing-wasm/dist/reader/zxing_reader.wasm').buffer as ArrayBuffer },
})

/** Dots as a picture. */
export function imageOf(dots: Dots): ImageData {
  const [height, width] = [dots.length, dots[0]!.length]
  const data = new Uint8ClampedArray(width * height * 4).fill(255)
  for (const [y, row] of dots.entries())
    for (const [x, black] of row.entries()) if (black) data.fill(0, (y * width + x) * 4, (y * width + x) * 4 + 3)
  return { data, width, height, colorSpace: 'srgb' } as ImageData
}

/** The texts of the codes that a reader finds in a picture, or in the bytes of a PNG. */
export const codesIn = async (image: ImageData | Uint8Array, format: 'Code128' | 'QRCode') =>
  (await readBarcodes(image, { formats: [format] })).map(({ text }) => text)

/** The pages of a PDF: their size in mm, and their texts with where they stand, from the upper left corner. */
export async function readPdf(bytes: Buffer) {
  const document = await getDocument({ data: new Uint8Array(bytes), useSystemFonts: true, verbosity: 0 }).promise
  const mm = (points: number) => Math.round((points / 72) * 25.4 * 100) / 100
  const pages = []
  for (let i = 1; i <= document.numPages; i++) {
    const page = await document.getPage(i)
    const [, , width, height] = page.view as [number, number, number, number]
    const { items } = await page.getTextContent()
    const texts = (items as { str: string; transform: number[]; width: number }[])
      .filter(({ str }) => str.trim())
      .map(({ str, transform, width: long }) => ({ text: str, x: mm(transform[4]!), y: mm(height - transform[5]!), width: mm(long) }))
    pages.push({ width: mm(width), height: mm(height), texts })
  }
  return pages
}
