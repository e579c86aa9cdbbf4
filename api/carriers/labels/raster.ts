/** A label as dots, for printers that take pictures: every letter comes out, and no text ever stands among a printer's commands. */
import { outlinesOf, type Command } from './font.ts'
import type { Mark } from './layout.ts'

type Point = [x: number, y: number]
/** An edge of a shape: from one scan line to the next it moves by `step`. */
interface Edge {
  top: number
  bottom: number
  x: number
  step: number
  winding: 1 | -1
}

/** Straight pieces of a curve: enough for letters of a few mm. */
const CURVE_STEPS = 6

/** Black and white dots, rows from the top, eight to a byte, the first in the highest bit; 1 is black. */
export class Bitmap {
  readonly rowBytes: number
  readonly bytes: Uint8Array
  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    this.rowBytes = Math.ceil(width / 8)
    this.bytes = new Uint8Array(this.rowBytes * height)
  }

  isBlack = (x: number, y: number): boolean => (this.bytes[y * this.rowBytes + (x >> 3)]! & (0x80 >> (x & 7))) !== 0

  /** Sets the dots of a row from `from` up to, not including, `to`. */
  fillRow(y: number, from: number, to: number, white: boolean) {
    if (y < 0 || y >= this.height) return
    for (let x = Math.max(0, from); x < Math.min(this.width, to); x++) {
      const at = y * this.rowBytes + (x >> 3)
      if (white) this.bytes[at]! &= ~(0x80 >> (x & 7))
      else this.bytes[at]! |= 0x80 >> (x & 7)
    }
  }

  /** The same picture, turned by a quarter clockwise. */
  turned(): Bitmap {
    const turned = new Bitmap(this.height, this.width)
    for (let y = 0; y < this.height; y++)
      for (let x = 0; x < this.width; x++) if (this.isBlack(x, y)) turned.fillRow(x, this.height - 1 - y, this.height - y, false)
    return turned
  }

  /** The rows, top first. */
  rows = (): Uint8Array[] => Array.from({ length: this.height }, (_, y) => this.bytes.subarray(y * this.rowBytes, (y + 1) * this.rowBytes))
}

/** The closed outlines of a glyph as corners, in font units. */
function polygons(commands: readonly Command[]): Point[][] {
  const all: Point[][] = []
  let current: Point[] = []
  for (const { command, args } of commands) {
    if (command === 'moveTo') all.push((current = [[args[0]!, args[1]!]]))
    else if (command === 'lineTo') current.push([args[0]!, args[1]!])
    else if (command !== 'closePath') {
      const points: Point[] = [current.at(-1)!]
      for (let i = 0; i < args.length; i += 2) points.push([args[i]!, args[i + 1]!])
      for (let i = 1; i <= CURVE_STEPS; i++) current.push(onCurve(points, i / CURVE_STEPS))
    }
  }
  return all
}

/** A point of a Bézier curve of any degree (de Casteljau). */
function onCurve(points: readonly Point[], t: number): Point {
  let rest = points
  while (rest.length > 1)
    rest = rest.slice(1).map(([x, y], i) => [rest[i]![0] + (x - rest[i]![0]) * t, rest[i]![1] + (y - rest[i]![1]) * t])
  return rest[0]!
}

function edgesOf(shapes: readonly Point[][]): Edge[] {
  const edges: Edge[] = []
  for (const shape of shapes) {
    for (const [i, [x1, y1]] of shape.entries()) {
      const [x2, y2] = shape[(i + 1) % shape.length]!
      if (y1 === y2) continue
      const [top, bottom] = y1 < y2 ? [y1, y2] : [y2, y1]
      const step = (x2 - x1) / (y2 - y1)
      edges.push({ top, bottom, x: y1 < y2 ? x1 : x2, step, winding: y1 < y2 ? 1 : -1 })
    }
  }
  return edges
}

/** Fills shapes by the non-zero rule: a dot is black when its middle is inside. */
function fill(bitmap: Bitmap, shapes: readonly Point[][], white: boolean) {
  const edges = edgesOf(shapes)
  if (!edges.length) return
  const first = Math.floor(Math.min(...edges.map(({ top }) => top)))
  const last = Math.ceil(Math.max(...edges.map(({ bottom }) => bottom)))
  for (let y = Math.max(0, first); y < Math.min(bitmap.height, last); y++) {
    const middle = y + 0.5
    const crossings = edges
      .filter(({ top, bottom }) => top <= middle && middle < bottom)
      .map(({ top, x, step, winding }) => ({ x: x + (middle - top) * step, winding }))
      .toSorted((a, b) => a.x - b.x)
    let depth = 0
    for (const [i, { x, winding }] of crossings.entries()) {
      depth += winding
      if (depth !== 0 && crossings[i + 1]) bitmap.fillRow(y, Math.ceil(x - 0.5), Math.ceil(crossings[i + 1]!.x - 0.5), white)
    }
  }
}

/** Draws marks, given in mm, on a picture of so many dots a mm. */
export function drawn(marks: readonly Mark[], widthMm: number, heightMm: number, dotsPerMm: number): Bitmap {
  const bitmap = new Bitmap(Math.round(widthMm * dotsPerMm), Math.round(heightMm * dotsPerMm))
  for (const mark of marks) {
    if (mark.kind === 'box') {
      const [left, right] = [mark.x, mark.x + mark.width].map((x) => Math.round(x * dotsPerMm)) as Point
      const [top, bottom] = [mark.y, mark.y + mark.height].map((y) => Math.round(y * dotsPerMm)) as Point
      for (let y = top; y < bottom; y++) bitmap.fillRow(y, left, right, false)
      continue
    }
    const { unitsPerEm, letters } = outlinesOf(mark.text, mark.bold)
    const scale = (mark.size * dotsPerMm) / unitsPerEm
    for (const { at, commands } of letters) {
      const placed = polygons(commands).map((shape) =>
        shape.map(([x, y]): Point => [mark.x * dotsPerMm + (at + x) * scale, mark.y * dotsPerMm - y * scale]),
      )
      fill(bitmap, placed, mark.white ?? false)
    }
  }
  return bitmap
}
