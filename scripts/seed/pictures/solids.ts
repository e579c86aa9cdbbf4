/** Hard things: how wood, stoneware, metal, glass and felt take the light, and the still lifes that they stand in. */
import { Drawing, leaf, oval, shape, stroke, whole, type Point, type Stop } from './drawing.ts'
import { dyed, lightness, tone } from './palette.ts'
import type { Look } from './picture.ts'
import { backdropFor, room, type Backdrop } from './scene.ts'
import { textured } from './textures.ts'

type Kind = 'wood' | 'stone' | 'metal' | 'glass' | 'felt' | 'enamel'

const KINDS: Record<string, Kind> = {
  Oak: 'wood',
  Walnut: 'wood',
  Stoneware: 'stone',
  Brass: 'metal',
  Titanium: 'metal',
  Aluminium: 'metal',
  Glass: 'glass',
  Wool: 'felt',
}

/** What something is made of, and the drawing that it is in. */
export interface Solid {
  drawing: Drawing
  material: string
  base: string
  kind: Kind
}

/** A still life being drawn. */
export interface Still {
  drawing: Drawing
  backdrop: Backdrop
  solid: Solid
  look: Look
}

export const solidOf = (drawing: Drawing, material: string, base: string): Solid => ({
  drawing,
  material,
  base,
  kind: KINDS[material] ?? 'enamel',
})

/** How much lighter or darker each kind is across a round body, from the left edge to the right one; glass has how opaque it is too. */
const LIGHT: Record<Kind, [at: number, by: number, opacity?: number][]> = {
  wood: [
    [0, -0.08],
    [0.27, 0.045],
    [0.65, -0.02],
    [1, -0.13],
  ],
  stone: [
    [0, -0.09],
    [0.24, 0.06],
    [0.5, 0.005],
    [0.84, -0.11],
    [0.95, -0.12],
    [1, -0.08],
  ],
  felt: [
    [0, -0.09],
    [0.3, 0.045],
    [0.65, -0.01],
    [1, -0.12],
  ],
  enamel: [
    [0, -0.1],
    [0.18, 0.03],
    [0.27, 0.09],
    [0.4, 0.01],
    [0.8, -0.1],
    [0.93, -0.13],
    [1, -0.06],
  ],
  metal: [
    [0, -0.2],
    [0.07, -0.02],
    [0.17, 0.13],
    [0.24, 0.22],
    [0.33, 0.05],
    [0.52, -0.05],
    [0.7, -0.17],
    [0.8, -0.1],
    [0.9, 0.1],
    [0.95, 0],
    [1, -0.2],
  ],
  glass: [
    [0, -0.16, 0.85],
    [0.07, -0.05, 0.6],
    [0.2, 0.08, 0.42],
    [0.55, 0.04, 0.34],
    [0.88, -0.06, 0.52],
    [0.96, -0.02, 0.66],
    [1, -0.2, 0.9],
  ],
}

/** The paint of a round body. */
const roundPaint = ({ drawing, base, kind }: Solid, to: Point = [1, 0]): string =>
  drawing.linear(
    LIGHT[kind].map(([at, by, opacity]): Stop => [at, tone(base, by), opacity]),
    [0, 0],
    to,
  )

const TEXTURE_SHOWS: Record<Kind, number> = { wood: 1, stone: 1, felt: 0.9, enamel: 0, metal: 0.45, glass: 0 }

/** A body of this outline, lit as something round is; it darkens toward the foot, and the floor shines back at it. */
export function body(solid: Solid, outline: string, { angle = 0, isFlat = false } = {}): string {
  const { drawing, material, base, kind } = solid
  const dark = tone(base, -0.32)
  const foot = drawing.linear(
    [
      [0, tone(base, 0.2), 0.22],
      [0.3, tone(base, 0.2), 0],
      [0.62, dark, 0],
      [0.94, dark, 0.34],
      [1, dark, 0.2],
    ],
    [0, 0],
    [0, 1],
  )
  const flat = drawing.linear(
    [
      [0, tone(base, 0.05)],
      [0.6, base],
      [1, tone(base, -0.05)],
    ],
    [0, 0],
    [1, 1],
  )
  const shows = TEXTURE_SHOWS[kind]
  return (
    shape(outline, isFlat ? flat : roundPaint(solid)) +
    (shows ? textured(drawing, outline, material, base, { angle }, shows) : '') +
    (isFlat ? '' : shape(outline, foot, kind === 'glass' ? 0.5 : 1))
  )
}

const GLEAMS: Record<Kind, number> = { wood: 0.16, stone: 0.22, felt: 0, enamel: 0.5, metal: 0.6, glass: 0.75 }

/** The light that a surface throws back, as a leaf. */
export const gleam = ({ kind }: Solid, from: Point, through: Point, to: Point, width = 12): string =>
  GLEAMS[kind] ? shape(leaf(from, through, to, width), '#fffaf0', GLEAMS[kind]) : ''

/** A round opening seen from a little above: its rim, and the inside. */
export function mouth(solid: Solid, cx: number, cy: number, rx: number, ry: number, rim = 12): string {
  const { drawing, base, kind } = solid
  const isGlass = kind === 'glass'
  const inner = drawing.linear(
    [
      [0, tone(base, -0.24), isGlass ? 0.4 : 1],
      [0.55, tone(base, -0.12), isGlass ? 0.3 : 1],
      [1, tone(base, 0.02), isGlass ? 0.3 : 1],
    ],
    [0, 0.2],
    [1, 0.8],
  )
  return (
    oval(
      cx,
      cy,
      rx,
      ry,
      drawing.linear([
        [0, tone(base, 0.12)],
        [0.5, tone(base, 0.05)],
        [1, tone(base, -0.04)],
      ]),
      isGlass ? 0.55 : 1,
    ) +
    oval(cx, cy + rim * 0.14, rx - rim, ry - rim * 0.42, inner) +
    stroke(`M${cx - rx * 0.86} ${cy + ry * 0.5}A${rx} ${ry} 0 0 0 ${cx + rx * 0.3} ${cy + ry * 0.95}`, tone(base, 0.26), 3, 0.7)
  )
}

/** The outline of an oval, to cut things off with. */
export const ovalOutline = (cx: number, cy: number, rx: number, ry: number): string =>
  `M${cx - rx} ${cy}A${rx} ${ry} 0 0 1 ${cx + rx} ${cy}A${rx} ${ry} 0 0 1 ${cx - rx} ${cy}Z`

/** A bent rod: a handle, a leg, a strap. */
export function rod(base: string, d: string, width: number, shine = 0.5): string {
  const inside = (by: number) => ` transform="translate(${-width * by} ${-width * by})"`
  return (
    stroke(d, tone(base, -0.17), width) +
    stroke(d, tone(base, -0.01), width * 0.74, 1, inside(0.07)) +
    stroke(d, tone(base, 0.16), width * 0.22, shine, inside(0.19))
  )
}

/** A turned thing: its right half from the top, x counted from its axis. */
export const turned = (solid: Solid, half: string, axis = 600): string => body(solid, whole(half, axis))

/** A solid of the same colour that is made of something else, where a thing can't be all of one material. */
export const as = (solid: Solid, kind: Kind, base = solid.base, material = ''): Solid => ({ ...solid, kind, base, material })

/** What a wooden part is made of beside this solid: of the same wood, or of oak. */
export const woodBeside = (solid: Solid): Solid =>
  solid.kind === 'wood' ? solid : as(solid, 'wood', lightness(solid.base) > 0.75 ? '#c08e5c' : '#d6a871', 'Oak')

/** Makes a picture of what `draw` puts in a room, its foot at y 1240. */
export const inRoom =
  (draw: (still: Still) => string) =>
  (look: Look): string => {
    const drawing = new Drawing()
    const base = dyed(look.material, look.colour)
    const backdrop = backdropFor(base, look.variation + look.view * 2)
    const still = { drawing, backdrop, solid: solidOf(drawing, look.material, base), look }
    return drawing.svg(room(drawing, backdrop, look.variation + look.view) + draw(still))
  }
