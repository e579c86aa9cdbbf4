/** A ticket on paper: an A4 page whose upper third is cut out, with the code that the door reads. */
import { Busy } from '../../db/errors.ts'
import { turn } from '../../db/sliced.ts'
import { printable, widthOf } from '../printing/font.ts'
import { box, line, texts, type Mark } from '../printing/marks.ts'
import { pdf, type Sheet } from '../printing/pdf.ts'
import { qrMarks } from '../printing/qr.ts'

/** The texts of a ticket, as people read them. */
interface TicketContent {
  token: string
  event: string
  /** Date, place, guest of honour: those that there are. */
  facts: readonly string[]
  /** Who comes; the buyer, until a guest is named. */
  attendee: string
  order: string
  store: string
  contact: string | null
}

const WIDTH = 180
const HEIGHT = 90
const EDGE = 8
const CODE = 62
const CODE_X = WIDTH - EDGE - CODE
const COLUMN = CODE_X - 2 * EDGE
const SHEET: Sheet = { width: 210, height: 297, x: 15, y: 15, scale: 1, cut: { width: WIDTH, height: HEIGHT } }

function layout({ token, event, facts, attendee, order, store, contact }: TicketContent): Mark[] {
  const column = { x: EDGE, width: COLUMN }
  const lines = (shown: readonly string[]) => shown.map(printable).filter(Boolean)
  return [
    ...texts(lines([event]), { ...column, y: 7, height: 22, largest: 8, smallest: 4, bold: true }, widthOf),
    ...texts(lines(facts), { ...column, y: 31, height: 23, largest: 4.4, smallest: 2.6 }, widthOf),
    box(EDGE, 57, COLUMN, 0.3),
    line('Admits', { ...column, y: 62, size: 3 }, widthOf, false),
    ...texts(lines([attendee]), { ...column, y: 63, height: 10, largest: 6, smallest: 3, bold: true }, widthOf),
    line(printable(order), { ...column, y: 79, size: 3.4 }, widthOf, false),
    line(printable(contact === null ? store : `${store}, ${contact}`), { ...column, y: 84, size: 3.4 }, widthOf, false),
    ...qrMarks(token, { x: CODE_X, y: 10, size: CODE }),
    ...texts([token], { x: CODE_X + 5, y: 74, width: CODE - 10, height: 7, largest: 2.8, smallest: 2 }, widthOf),
    line('One entry. Keep it to yourself.', { x: CODE_X, y: 84, width: CODE, size: 2.8, align: 'centre' }, widthOf, false),
  ]
}

let last: Promise<unknown> = Promise.resolve()
/** Sheets that wait to be drawn; who comes later is told to come again. */
const WAITING_MAX = 100
let waiting = 0

/** Draws a ticket, which takes some 40 ms: one at a time, others' requests in between. The same one has the same bytes each time. */
export async function ticketPdf(content: TicketContent, madeAt: Date): Promise<Uint8Array> {
  if (waiting >= WAITING_MAX) throw new Busy(1, 'too many tickets are being printed')
  waiting++
  const drawn = last.then(turn).then(() => pdf(layout(content), SHEET, { title: `Ticket for ${content.event}`, madeAt }))
  last = drawn.catch(() => {})
  return drawn.finally(() => waiting--)
}
