/** Labels: what a carrier prints of a shipment, in the format that the store has chosen. */
import bwip from 'bwip-js/node'
import type { Carrier, LabelMode } from '../../../db/store/addons.ts'
import { printable, widthOf } from '../../printing/font.ts'
import { layout, LABEL_HEIGHT_MM, LABEL_WIDTH_MM, type LabelContent } from './layout.ts'
import type { Mark } from '../../printing/marks.ts'
import { pdf, type Sheet } from '../../printing/pdf.ts'
import { dpl, epl, zpl } from './printers.ts'
import { drawn, type Bitmap } from './raster.ts'

export interface Label {
  type: string
  /** The extension of the file's name, without the dot. */
  extension: string
  bytes: Uint8Array
}

const A4 = { width: 210, height: 297 }
/** A quarter of a sheet that lies on its side. */
const quarter = { width: A4.height, height: A4.width, y: 10, scale: 0.85 }
const ROLL: Sheet = { width: LABEL_WIDTH_MM, height: LABEL_HEIGHT_MM, x: 0, y: 0, scale: 1 }
const SHEETS: Partial<Record<LabelMode, Sheet>> = {
  one_label_on_a4_pdf: { ...A4, x: 25, y: 20, scale: 1, cut: { width: LABEL_WIDTH_MM, height: LABEL_HEIGHT_MM } },
  four_labels_on_a4_pdf: { ...quarter, x: 6.25 },
  four_labels_on_a4_right_pdf: { ...quarter, x: A4.height / 2 + 6.25 },
  roll_160x100_pdf: ROLL,
}
const PRINTERS: Partial<Record<LabelMode, { type: string; extension: string; encode: (bitmap: Bitmap) => Uint8Array }>> = {
  roll_160x100_printer_a: { type: 'application/zpl', extension: 'zpl', encode: zpl },
  roll_160x100_printer_a_epl: { type: 'application/epl', extension: 'epl', encode: epl },
  roll_160x100_printer_b: { type: 'application/dpl', extension: 'dpl', encode: dpl },
}
/** A6 for carrier_b, 6 by 4 inches for carrier_c. */
const SHEET_OF: Record<Exclude<Carrier, 'carrier_a'>, Sheet> = {
  carrier_b: { width: 148, height: 105, x: 4, y: 8.75, scale: 0.875 },
  carrier_c: { width: 152.4, height: 101.6, x: 0.2, y: 3.3, scale: 0.95 },
}

/** The widths of a Code 128 barcode's bars and gaps in turn. */
const barsOf = (text: string) => [...(bwip.raw('code128', text) as { sbs: number[] }[])[0]!.sbs]

/** Every text as the font can show it; lines without anything to show are gone. */
const shown = (lines: readonly string[]) => lines.map(printable).filter(Boolean)

function marksOf(content: Omit<LabelContent, 'bars'>): Mark[] {
  return layout(
    {
      ...content,
      carrier: printable(content.carrier),
      service: printable(content.service),
      reference: printable(content.reference),
      sender: shown(content.sender),
      recipient: shown(content.recipient),
      pickupPoint: shown(content.pickupPoint),
      facts: shown(content.facts),
      bars: barsOf(content.number),
    },
    widthOf,
  )
}

/** Draws a label: for carrier_a in the given mode, for the others on the sheet that they use. */
export async function labelOf(carrier: Carrier, mode: LabelMode, content: Omit<LabelContent, 'bars'>, madeAt: Date): Promise<Label> {
  const marks = marksOf(content)
  const printer = carrier === 'carrier_a' ? PRINTERS[mode] : undefined
  if (printer) {
    return { type: printer.type, extension: printer.extension, bytes: printer.encode(await drawn(marks)) }
  }
  const sheet = carrier === 'carrier_a' ? (SHEETS[mode] ?? ROLL) : SHEET_OF[carrier]
  return { type: 'application/pdf', extension: 'pdf', bytes: await pdf(marks, sheet, { title: `Label ${content.number}`, madeAt }) }
}
