/** Where everything stands on a label of 160 by 100 mm: pure, in mm from the upper left corner. */

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

/** Something black on a label, or white on something black; `y` of a text is its baseline. */
export type Mark =
  | { kind: 'text'; x: number; y: number; size: number; text: string; bold: boolean; white?: boolean }
  | { kind: 'box'; x: number; y: number; width: number; height: number }

/** How wide a text is, in its own size. */
type Measure = (text: string, bold: boolean) => number

export const LABEL_WIDTH_MM = 160
export const LABEL_HEIGHT_MM = 100
/** Label printers have 8 dots a mm: bars begin and end at a dot, so that they are as wide on paper as they are told to be. */
const DOT_MM = 1 / 8
const MARGIN = 4
const RIGHT = LABEL_WIDTH_MM - MARGIN
const INNER = RIGHT - MARGIN
const LINE_HEIGHT = 1.2
/** Modules of white before and after a barcode (ISO 15417). */
const QUIET_MODULES = 10
const MODULE_MAX_MM = 0.75
const BODY_TOP = 19
const BODY_BOTTOM = 68
const BANNER_HEIGHT = 7.5
const TEST_WORDS = 'TEST – SAMPLE – NOT FOR SHIPPING'

/** A column or a box of text. */
interface Frame {
  x: number
  /** Upper edge. */
  y: number
  width: number
  height: number
  largest: number
  smallest: number
  bold?: boolean
}

/** Lines that are no wider than `width` sizes; a word that is too long for any line is broken. */
function wrapped(text: string, width: number, bold: boolean, measure: Measure): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line ? `${line} ${word}` : word
    if (measure(longer, bold) <= width) {
      line = longer
      continue
    }
    if (line) lines.push(line)
    line = ''
    for (const letter of word) {
      if (line && measure(line + letter, bold) > width) {
        lines.push(line)
        line = ''
      }
      line += letter
    }
  }
  return line ? [...lines, line] : lines
}

const cut = (text: string, width: number, bold: boolean, measure: Measure) => {
  if (measure(text, bold) <= width) return text
  let kept = [...text]
  while (kept.length && measure(`${kept.join('')}…`, bold) > width) kept = kept.slice(0, -1)
  return `${kept.join('').trimEnd()}…`
}

/** Lines as large as the frame allows. In the smallest size a line that is too long is cut off, which an ellipsis tells, so that none is lost. */
function texts(lines: readonly string[], frame: Frame, measure: Measure): Mark[] {
  const { x, y, width, height, largest, smallest, bold = false } = frame
  for (let size = largest; ; size = Math.max(smallest, size - 0.2)) {
    let laid = lines.flatMap((text) => wrapped(text, width / size, bold, measure))
    const room = Math.max(1, Math.floor(height / (size * LINE_HEIGHT)))
    if (laid.length > room && size > smallest) continue
    if (laid.length > room) laid = lines.slice(0, room).map((text) => cut(text, width / size, bold, measure))
    return laid.map((text, i) => ({ kind: 'text', x, y: y + size * (0.95 + i * LINE_HEIGHT), size, text, bold }))
  }
}

/** A line of text, as large as the width allows. */
function line(
  text: string,
  at: { x: number; y: number; width: number; size: number; align?: 'right' | 'centre' },
  measure: Measure,
  bold = true,
): Mark {
  const size = Math.max(at.size * 0.5, Math.min(at.size, at.width / Math.max(0.01, measure(text, bold))))
  const shown = cut(text, at.width / size, bold, measure)
  const rest = at.width - measure(shown, bold) * size
  return { kind: 'text', x: at.x + (at.align === 'right' ? rest : at.align === 'centre' ? rest / 2 : 0), y: at.y, size, text: shown, bold }
}

const box = (x: number, y: number, width: number, height: number): Mark => ({ kind: 'box', x, y, width, height })

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
