/** Where everything stands on a label of 160 by 100 mm: pure, in mm from the upper left corner. */
import { box, line, texts, type Mark, type Measure } from '../../printing/marks.ts'

/** The texts of a label, as people read them. */
export interface LabelContent {
  carrier: string
  service: string
  reference: string
  date: string
  /** Lines of addresses, the first one a name. */
  sender: readonly string[]
  recipient: readonly string[]
  /** Empty: it goes to the recipient's door. */
  pickupPoint: readonly string[]
  /** Weight, size and the like. */
  facts: readonly string[]
  number: string
  /** The widths of the barcode's bars and gaps in turn, in modules. */
  bars: readonly number[]
  /** Nothing that leaves the house with it arrives. */
  isTest: boolean
}

export const LABEL_WIDTH_MM = 160
export const LABEL_HEIGHT_MM = 100
/** Label printers have 8 dots a mm: bars begin and end at a dot, so that they are as wide on paper as they are told to be. */
const DOT_MM = 1 / 8
const MARGIN = 4
const RIGHT = LABEL_WIDTH_MM - MARGIN
const INNER = RIGHT - MARGIN
/** Modules of white before and after a barcode (ISO 15417). */
const QUIET_MODULES = 10
const MODULE_MAX_MM = 0.75
const BODY_TOP = 19
const BODY_BOTTOM = 68
const BANNER_HEIGHT = 7.5
const TEST_WORDS = 'TEST – SAMPLE – NOT FOR SHIPPING'

function header({ carrier, service, reference, date }: LabelContent, measure: Measure): Mark[] {
  const right = { x: 100, width: RIGHT - 100, align: 'right' as const }
  return [
    line(carrier, { x: MARGIN, y: 11, width: 48, size: 8 }, measure),
    line(service, { x: 54, y: 11, width: 44, size: 4.6 }, measure, false),
    line(reference, { ...right, y: 9.5, size: 5.4 }, measure),
    line(date, { ...right, y: 14.5, size: 3.4 }, measure, false),
    box(MARGIN, 17, INNER, 0.5),
  ]
}

function addresses({ sender, recipient, pickupPoint, facts, isTest }: LabelContent, measure: Measure): Mark[] {
  const bottom = isTest ? BODY_BOTTOM - BANNER_HEIGHT - 1 : BODY_BOTTOM
  const [left, leftWidth, middle, right] = [MARGIN, 53, 59, 62]
  const factsTop = bottom - (facts.length ? 8 : 0)
  const pointHeight = pickupPoint.length ? 14 : 0
  const top = BODY_TOP + 4
  const marks = [
    line('From', { x: left, y: BODY_TOP + 2.6, width: leftWidth, size: 2.8 }, measure, false),
    ...texts(sender, { x: left, y: top, width: leftWidth, height: factsTop - top, largest: 3.6, smallest: 2.2 }, measure),
    ...texts(facts, { x: left, y: factsTop, width: leftWidth, height: 8, largest: 3.2, smallest: 2.2, bold: true }, measure),
    box(middle, BODY_TOP - 2, 0.5, bottom - BODY_TOP + 3),
    line('To', { x: right, y: BODY_TOP + 2.6, width: 40, size: 2.8 }, measure, false),
    ...texts(
      recipient,
      { x: right, y: top, width: RIGHT - right, height: bottom - pointHeight - top, largest: 6, smallest: 2.4, bold: true },
      measure,
    ),
  ]
  if (!pickupPoint.length) return marks
  const y = bottom - pointHeight + 1
  const [x, width, height, edge] = [right, RIGHT - right, pointHeight - 1, 0.6]
  return [
    ...marks,
    box(x, y, width, edge),
    box(x, y + height - edge, width, edge),
    box(x, y, edge, height),
    box(x + width - edge, y, edge, height),
    line('Pickup point', { x: x + 2, y: y + 3.6, width: 40, size: 2.8 }, measure, false),
    ...texts(pickupPoint, { x: x + 2, y: y + 4.2, width: width - 4, height: height - 5, largest: 4.6, smallest: 2.2, bold: true }, measure),
  ]
}

/** The barcode, as wide as it can be, with its quiet zones; its bars begin and end at a printer's dot. */
function barcode({ bars, number }: LabelContent, measure: Measure): Mark[] {
  const modules = bars.reduce((sum, width) => sum + width, 0)
  const dots = Math.max(1, Math.floor(Math.min(MODULE_MAX_MM, INNER / (modules + 2 * QUIET_MODULES)) / DOT_MM))
  const module = dots * DOT_MM
  let x = Math.round((LABEL_WIDTH_MM - modules * module) / 2 / DOT_MM) * DOT_MM
  const marks: Mark[] = [box(MARGIN, BODY_BOTTOM + 1, INNER, 0.5)]
  for (const [i, width] of bars.entries()) {
    if (i % 2 === 0) marks.push(box(x, 71.5, width * module, 18))
    x += width * module
  }
  return [...marks, line(number, { x: MARGIN, y: 95.5, width: INNER, size: 5, align: 'centre' }, measure)]
}

function banner(measure: Measure): Mark[] {
  const y = BODY_BOTTOM - BANNER_HEIGHT
  const words = line(TEST_WORDS, { x: MARGIN, y: y + 5.7, width: INNER, size: 5.6, align: 'centre' }, measure)
  return [box(MARGIN, y, INNER, BANNER_HEIGHT), { ...words, white: true } as Mark]
}

/** Lays a label out; texts have to be what the font can show. */
export const layout = (content: LabelContent, measure: Measure): Mark[] => [
  ...header(content, measure),
  ...addresses(content, measure),
  ...(content.isTest ? banner(measure) : []),
  ...barcode(content, measure),
]
