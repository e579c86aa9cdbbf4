/** Cloth and knitwear: pieces cut from it, the folds that they fall in, and what is sewn on. */
import { leaf, shape, side, stroke, whole, type Drawing, type Point } from './drawing.ts'
import { lightness, tone } from './palette.ts'
import { textured, type Lie } from './textures.ts'

/** A cloth and the drawing that pieces of it are in. */
export interface Cloth {
  drawing: Drawing
  material: string
  base: string
  /** How much larger than life its texture is, for a closer look. */
  scale: number
}

/** How strongly seams and stitches show. */
const STITCHED: Record<string, string> = { Denim: '#dca35c', Canvas: '#f0e3c6', Waxed: '#c99b5a' }

/** A piece of cloth with this outline, lit from the left; `fall` of light 0 is even, 1 that of a round sleeve. */
export function piece(
  { drawing, material, base, scale }: Cloth,
  outline: string,
  { angle = 0 }: Lie = {},
  fall = 0.5,
  texture = material,
): string {
  const paint = drawing.linear([
    [0, tone(base, -0.02 - 0.05 * fall)],
    [0.22, tone(base, 0.045)],
    [0.55, tone(base, 0.01)],
    [1, tone(base, -0.045 - 0.06 * fall)],
  ])
  return shape(outline, paint) + textured(drawing, outline, texture, base, { angle, scale })
}

/** A band of ribbed knit. */
export const ribbed = (cloth: Cloth, outline: string, angle = 0): string =>
  piece({ ...cloth, base: tone(cloth.base, -0.015) }, outline, { angle }, 0.6, 'Rib')

/** A fold: the shade in it and the light beside it. */
export function fold({ base }: Cloth, from: Point, through: Point, to: Point, width = 16, strength = 1): string {
  const beside = ([x, y]: Point): Point => [x - width * 0.9, y - 4]
  return (
    shape(leaf(from, through, to, width), tone(base, -0.24), 0.26 * strength) +
    shape(leaf(beside(from), beside(through), beside(to), width * 0.55), tone(base, 0.2), 0.2 * strength)
  )
}

/** A seam with its stitches beside it. */
export function seam({ material, base, scale }: Cloth, d: string, width = 3): string {
  const thread = STITCHED[material]
  const dark = stroke(d, tone(base, -0.2), width, 0.5)
  return (
    dark +
    (thread
      ? stroke(d, thread, 2.4 * scale ** 0.5, 0.85, ' stroke-dasharray="7 6" transform="translate(7 5)"')
      : stroke(d, tone(base, 0.12), 2, 0.35, ' transform="translate(3 3)"'))
  )
}

export const both = (half: string, draw: (d: string, which: 1 | -1) => string): string => draw(side(half, -1), -1) + draw(side(half, 1), 1)

/** A sewn-on button. */
export function button({ base }: Cloth, x: number, y: number, r = 11): string {
  const horn = lightness(base) < 0.5 ? '#d9c6a5' : '#6d4d38'
  const dot = (dx: number, dy: number) => `<circle cx="${x + dx * r}" cy="${y + dy * r}" r="${r * 0.13}" fill="${tone(horn, -0.25)}"/>`
  return (
    `<circle cx="${x + 2}" cy="${y + 4}" r="${r}" fill="${tone(base, -0.3)}" opacity=".55"/><circle cx="${x}" cy="${y}" r="${r}" fill="${horn}"/>` +
    `<circle cx="${x}" cy="${y}" r="${r * 0.68}" fill="${tone(horn, -0.06)}"/>` +
    stroke(
      `M${x - r * 0.7} ${y - r * 0.4}Q${x - r * 0.3} ${y - r * 0.85} ${x + r * 0.3} ${y - r * 0.75}`,
      tone(horn, 0.18),
      r * 0.16,
      0.8,
    ) +
    dot(-0.22, -0.22) +
    dot(0.22, -0.22) +
    dot(-0.22, 0.22) +
    dot(0.22, 0.22)
  )
}

/** A pocket sewn on, with what shade it throws; its outline is given around (x, y), its upper left corner. */
export function pocket(cloth: Cloth, x: number, y: number, width: number, height: number, hasFlap = false): string {
  const bag = `M${x} ${y}h${width}v${height - 26}l${-width / 2} 26l${-width / 2} -26Z`
  const flap = `M${x - 5} ${y - 4}h${width + 10}v38l${-width / 2 - 5} 26l${-width / 2 - 5} -26Z`
  const edge = (d: string) => stroke(d, tone(cloth.base, -0.2), 3, 0.45)
  const sewn =
    shape(bag, tone(cloth.base, -0.3), 0.3).replace('<path', '<path transform="translate(5 8)"') + piece(cloth, bag, {}, 0.3) + edge(bag)
  if (!hasFlap) return sewn + seam(cloth, `M${x + 3} ${y + 22}h${width - 6}`, 2)
  const over = shape(flap, tone(cloth.base, -0.32), 0.4).replace('<path', '<path transform="translate(3 9)"')
  return sewn + over + piece(cloth, flap, {}, 0.3) + edge(flap) + button(cloth, x + width / 2, y + 36, 10)
}

/** The dark inside of a neck, with the label in it. */
export function neck(cloth: Cloth, half: string, labelAt: number, hasHanger: boolean): string {
  const { drawing, base } = cloth
  const outline = whole(half)
  const inside = drawing.linear(
    [
      [0, tone(base, -0.1)],
      [1, tone(base, -0.27)],
    ],
    [0, 0],
    [0, 1],
  )
  const wood = drawing.linear(
    [
      [0, '#e3bd8d'],
      [1, '#a87a4d'],
    ],
    [0, 0],
    [0, 1],
  )
  const bar = hasHanger
    ? drawing.inside(
        outline,
        shape('M600 284C640 290 690 306 740 330V380C690 346 640 326 600 322C560 326 510 346 460 380V330C510 306 560 290 600 284Z', wood),
      )
    : ''
  return (
    shape(outline, inside) + bar + shape(`M572 ${labelAt}h56v30h-56Z`, '#f3ead9') + stroke(`M584 ${labelAt + 15}h32`, '#a8967c', 3, 0.8)
  )
}
