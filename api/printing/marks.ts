/** What is printed, as marks on a sheet: pure, in mm from the upper left corner. */

/** Something black on a sheet, or white on something black; `y` of a text is its baseline. */
export type Mark =
  | { kind: 'text'; x: number; y: number; size: number; text: string; bold: boolean; white?: boolean }
  | { kind: 'box'; x: number; y: number; width: number; height: number }

/** How wide a text is, in its own size. */
export type Measure = (text: string, bold: boolean) => number

const LINE_HEIGHT = 1.2

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
    let used = 0
    for (const letter of word) {
      const own = measure(letter, bold)
      if (line && used + own > width) {
        lines.push(line)
        ;[line, used] = ['', 0]
      }
      line += letter
      used += own
    }
  }
  return line ? [...lines, line] : lines
}

const cut = (text: string, width: number, bold: boolean, measure: Measure) => {
  if (measure(text, bold) <= width) return text
  let [kept, left] = ['', width - measure('…', bold)]
  for (const letter of text) {
    left -= measure(letter, bold)
    if (left < 0) break
    kept += letter
  }
  return `${kept.trimEnd()}…`
}

/** Lines as large as the frame allows. In the smallest size a line that is too long is cut off, which an ellipsis tells, so that none is lost. */
export function texts(lines: readonly string[], frame: Frame, measure: Measure): Mark[] {
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
export function line(
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

export const box = (x: number, y: number, width: number, height: number): Mark => ({ kind: 'box', x, y, width, height })
