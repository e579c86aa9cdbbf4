/** Paper and board: sheets, covers and what lies beside them on a desk. */
import { box, Drawing, leaf, oval, placed, shape, stroke, type Point } from './drawing.ts'
import { dyed, lightness, tone } from './palette.ts'
import type { Look } from './picture.ts'
import { backdropFor, surface, thrown, type Backdrop } from './scene.ts'
import { textured } from './textures.ts'

const COVERS = ['#3f5a56', '#b4593f', '#2f3d5c', '#d3a13f', '#7b7f58', '#7a4a5a', '#8aa0ac', '#c98f7c']

/** A desk seen from above with paper things on it. */
export interface Desk {
  drawing: Drawing
  backdrop: Backdrop
  look: Look
  /** The colour that this variation binds and prints in. */
  accent: string
  /** The paper itself. */
  paper: string
  /** What covers are: of the paper, or of cloth and board in the accent. */
  cover: string
}

/** A picture of what `draw` lays on a desk. */
export const onDesk =
  (draw: (desk: Desk) => string) =>
  (look: Look): string => {
    const drawing = new Drawing()
    const accent = COVERS[Math.abs(look.variation) % COVERS.length]!
    const paper = look.material === 'Cloth-Bound' ? '#f6f0e4' : dyed(look.material, null)
    const cover = look.material === 'Recycled' ? paper : look.material === 'Laid' ? tone(accent, 0.16) : accent
    const backdrop = backdropFor(cover, look.variation + look.view * 3)
    return drawing.svg(surface(drawing, backdrop, look.variation + look.view) + draw({ drawing, backdrop, look, accent, paper, cover }))
  }

/** A sheet or a pad with this outline: paper of the material, with light across it. */
export function sheet({ drawing, look, paper }: Desk, outline: string, base = paper): string {
  const light = drawing.linear(
    [
      [0, tone(base, 0.03)],
      [0.6, base],
      [1, tone(base, -0.035)],
    ],
    [0, 0],
    [1, 1],
  )
  return (
    shape(outline, light) +
    (look.material === 'Cloth-Bound' || look.material === 'Letterpress' ? '' : textured(drawing, outline, look.material, base))
  )
}

/** The cover of a bound book: its board, the texture of it, and the groove along its spine. */
export function bound(desk: Desk, x: number, y: number, width: number, height: number): string {
  const { drawing, look, cover, paper, backdrop } = desk
  const outline = box(x, y, width, height, 16)
  const groove = drawing.linear([
    [0, tone(cover, -0.1), 0.9],
    [0.035, tone(cover, 0.12), 0.5],
    [0.075, tone(cover, -0.16), 0.7],
    [0.1, tone(cover, 0.08), 0.35],
    [0.14, cover, 0],
    [0.85, cover, 0],
    [1, tone(cover, -0.2), 0.4],
  ])
  const pages = [box(x + 8, y + 10, width + 10, height + 6, 10), box(x + 8, y + 8, width + 6, height + 2, 10)]
  const light = drawing.linear(
    [
      [0, tone(cover, 0.08)],
      [0.5, cover],
      [1, tone(cover, -0.06)],
    ],
    [0, 0],
    [1, 1],
  )
  return (
    thrown(box(x, y, width + 14, height + 14, 16), backdrop, 26) +
    shape(box(x + 4, y + 12, width + 16, height + 10, 14), tone(cover, -0.14)) +
    shape(pages[0]!, tone(paper, -0.14)) +
    shape(pages[1]!, tone(paper, -0.02)) +
    shape(outline, light) +
    textured(drawing, outline, look.material, cover) +
    shape(outline, groove) +
    stroke(`M${x + 16} ${y + 2}H${x + width - 16}`, tone(cover, 0.2), 3, 0.5)
  )
}

/** A sprig that is pressed or printed. */
export function sprig([x, y]: Point, size: number, colour: string, opacity = 1): string {
  const leaves = [0.2, 0.36, 0.52, 0.68, 0.84].map((t) => {
    const [ly, length] = [y - size * t, size * (0.36 - t * 0.2)]
    return (
      leaf([x, ly], [x + length * 0.5, ly - length * 0.75], [x + length, ly - length * 0.72], length * 0.3) +
      leaf([x, ly], [x - length * 0.5, ly - length * 0.75], [x - length, ly - length * 0.72], length * 0.3)
    )
  })
  const tip = leaf([x, y - size * 0.9], [x, y - size * 1.0], [x, y - size * 1.14], size * 0.07)
  return stroke(`M${x} ${y}V${y - size * 0.95}`, colour, size * 0.018, opacity) + shape(leaves.join('') + tip, colour, opacity)
}

/** Pressed into the surface: light below, dark above. */
export const pressed = (base: string, mark: (colour: string) => string): string =>
  placed('translate(2 3)', mark(tone(base, 0.16))) + mark(tone(base, lightness(base) < 0.45 ? -0.12 : -0.17))

/** A pencil, its point at the lower left of a turned group. */
export function pencil(backdrop: Backdrop, colour: string, turn: string): string {
  const outline = 'M0 -17H470V17H0L-64 0Z'
  return placed(
    turn,
    placed('translate(10 16)', shape(outline, tone(backdrop.wall, -0.36), 0.34)) +
      shape('M0 -17L-64 0L0 17Z', '#e4bf8c') +
      shape('M-40 -6.4L-64 0L-40 6.4Z', '#33302e') +
      shape(box(0, -17, 440, 34), colour) +
      shape(box(0, -17, 440, 11), tone(colour, 0.1)) +
      shape(box(0, 7, 440, 10), tone(colour, -0.1)) +
      shape(box(440, -17, 34, 34), '#cdb27a') +
      shape(box(440, -17, 34, 9), '#efe0b5') +
      shape(box(474, -16, 34, 32, 8), '#d68a7c'),
  )
}

/** A wire binding along a line from (x, y): holes and the loops through them. */
export function wired(x: number, y: number, length: number, isUpright: boolean): string {
  const each = 34
  return Array.from({ length: Math.floor(length / each) }, (_, at) => {
    const d = isUpright
      ? `M${x + 22} ${y + at * each}C${x - 6} ${y + at * each - 16} ${x - 30} ${y + at * each - 4} ${x - 16} ${y + at * each + 8}`
      : `M${x + at * each} ${y + 22}C${x + at * each - 16} ${y - 6} ${x + at * each - 4} ${y - 32} ${x + at * each + 8} ${y - 16}`
    const [hx, hy] = isUpright ? [x + 24, y + at * each] : [x + at * each, y + 24]
    return oval(hx, hy, 7, 7, '#3a3430', 0.75) + stroke(d, '#4d4a48', 7) + stroke(d, '#c9c5bd', 3.4)
  }).join('')
}
