/** A sheet as PDF: its texts can be read and copied, and the same sheet has the same bytes each time. */
import PDFDocument from 'pdfkit'
import { FONT_FILES } from './font.ts'
import type { Mark } from './marks.ts'

/** A sheet in mm, and where on it the marks lie. */
export interface Sheet {
  width: number
  height: number
  x: number
  y: number
  /** The size of the marks on the sheet: 1 is theirs. */
  scale: number
  /** What is to be cut out, in mm of the marks; its edge is shown. */
  cut?: { width: number; height: number }
}

const POINTS_PER_MM = 72 / 25.4
const FRAME_MM = 0.2

/** Draws marks on their sheet; `madeAt` stands in the file's properties. */
export async function pdf(marks: readonly Mark[], sheet: Sheet, { title, madeAt }: { title: string; madeAt: Date }): Promise<Uint8Array> {
  const document = new PDFDocument({
    size: [sheet.width * POINTS_PER_MM, sheet.height * POINTS_PER_MM],
    margin: 0,
    font: FONT_FILES.regular,
    info: { Title: title, Creator: 'Stoa', Producer: 'Stoa', CreationDate: madeAt },
  })
  const chunks: Uint8Array[] = []
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
  document.on('data', (chunk: Uint8Array) => chunks.push(chunk))
  document.on('end', () => resolve(Buffer.concat(chunks)))
  document.on('error', reject)
  document.registerFont('bold', FONT_FILES.bold)
  document.registerFont('regular', FONT_FILES.regular)
  document.scale(POINTS_PER_MM).translate(sheet.x, sheet.y).scale(sheet.scale)
  if (sheet.cut) document.lineWidth(FRAME_MM).rect(0, 0, sheet.cut.width, sheet.cut.height).stroke('#999')
  document.fillColor('black')
  for (const mark of marks) {
    if (mark.kind === 'box') document.rect(mark.x, mark.y, mark.width, mark.height).fill('black')
    else {
      document
        .fillColor(mark.white ? 'white' : 'black')
        .font(mark.bold ? 'bold' : 'regular')
        .fontSize(mark.size)
      // Letters stand where they were measured: one beside the other.
      document.text(mark.text, mark.x, mark.y, { lineBreak: false, baseline: 'alphabetic', features: PLAIN_LETTERS as never })
    }
  }
  document.end()
  return promise
}

/** No ligatures and no kerning. */
const PLAIN_LETTERS = { liga: false, kern: false, clig: false, calt: false, dlig: false, rlig: false, locl: false }
