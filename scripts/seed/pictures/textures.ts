/** The surfaces of materials: weave, rib, grain, speckle and print, as tiles to lay over a painted shape. */
import { numbers, shape, stroke, type Drawing } from './drawing.ts'
import { lightness, tone } from './palette.ts'

/** How a texture lies: turned by degrees, and larger for a closer look. */
export interface Lie {
  angle?: number
  scale?: number
}

const place = ({ angle = 0, scale = 1 }: Lie) => (angle || scale !== 1 ? `rotate(${angle} 600 700) scale(${scale})` : '')

/** Dark and light threads that show on this colour, dark things more by their lights. */
function threads(base: string) {
  const isDark = lightness(base) < 0.45
  return { dark: tone(base, isDark ? -0.12 : -0.16), light: tone(base, isDark ? 0.15 : 0.12) }
}

const lines = (count: number, each: (at: number) => string) => Array.from({ length: count }, (_, at) => each(at)).join('')

type Texture = (drawing: Drawing, base: string, lie: Lie) => string

function weave(drawing: Drawing, base: string, lie: Lie): string {
  const { dark, light } = threads(base)
  const next = numbers(11)
  const slubs = lines(16, () => {
    const [x, y, length] = [next() * 84, next() * 84, 14 + next() * 34]
    return next() < 0.5 ? stroke(`M${x} ${y}h${length}`, light, 2, 0.55) : stroke(`M${x} ${y}v${length}`, dark, 1.8, 0.4)
  })
  const grid = lines(14, (at) => stroke(`M0 ${at * 7}h98M${at * 7} 0v98`, at % 2 ? dark : light, 1.6, 0.28))
  return drawing.tile(98, 98, grid + slubs, place(lie))
}

function canvas(drawing: Drawing, base: string, lie: Lie): string {
  const { dark, light } = threads(base)
  const knot = `<path d="M1 1h5v4h-5zM8 7h5v4h-5z" fill="${light}" opacity=".4"/><path d="M8 1h5v4h-5zM1 7h5v4h-5z" fill="${dark}" opacity=".3"/>`
  return drawing.tile(14, 12, knot, place(lie))
}

/** Columns of stitches, each two leaning strokes. */
function knit(drawing: Drawing, base: string, lie: Lie): string {
  const { dark, light } = threads(base)
  const stitch =
    stroke('M2 1Q3 9 10 15', light, 5, 0.42) + stroke('M18 1Q17 9 10 15', light, 5, 0.3) + stroke('M10 0V16M0 0V16M20 0V16', dark, 1.6, 0.5)
  return drawing.tile(20, 16, stitch, place(lie))
}

function rib(drawing: Drawing, base: string, lie: Lie): string {
  const { dark, light } = threads(base)
  return drawing.tile(18, 40, stroke('M4 0V40', dark, 5, 0.5) + stroke('M12 0V40', light, 6, 0.4), place(lie))
}

function wales(drawing: Drawing, base: string, lie: Lie): string {
  const { dark, light } = threads(base)
  const cord = stroke('M2 0V60', dark, 5.5, 0.75) + stroke('M9 0V60', light, 4.5, 0.5) + stroke('M12.5 0V60', light, 3, 0.22)
  return drawing.tile(16, 60, cord, place(lie))
}

function twill(drawing: Drawing, base: string, lie: Lie): string {
  const { dark, light } = threads(base)
  const diagonal = stroke('M-3 15L15 -3M-3 3L3 -3M9 15L15 9', light, 2.2, 0.42) + stroke('M-3 9L9 -3M3 15L15 3', dark, 2, 0.3)
  const slub = stroke('M4 2v7', light, 1.2, 0.25)
  return drawing.tile(12, 12, diagonal + slub, place(lie))
}

/** A woven check: bands across bands, and a fine line of another colour. */
function plaid(drawing: Drawing, base: string, lie: Lie): string {
  const { light } = threads(base)
  const [band, fine] = [tone(base, lightness(base) < 0.5 ? -0.13 : -0.2), lightness(base) < 0.6 ? '#f2e3c4' : '#8f4b34']
  const tile = (d: string, colour: string, opacity: number) => shape(d, colour, opacity)
  return drawing.tile(
    128,
    128,
    tile('M0 0h46v128h-46z', band, 0.5) +
      tile('M0 0h128v46h-128z', band, 0.5) +
      tile('M84 0h8v128h-8z', fine, 0.42) +
      tile('M0 84h128v8h-128z', fine, 0.42) +
      tile('M60 0h5v128h-5zM0 60h128v5h-128z', light, 0.4),
    place(lie),
  )
}

function grain(drawing: Drawing, base: string, lie: Lie): string {
  const [dark, light] = [tone(base, -0.13), tone(base, 0.08)]
  const next = numbers(5)
  const veins = lines(15, (at) => {
    const [x, sway] = [at * 20 + next() * 9, (next() - 0.5) * 26]
    const d = `M${x} 0C${x + sway} 170 ${x - sway} 300 ${x + sway / 2} 440S${x - sway} 620 ${x} 720`
    return stroke(d, at % 4 === 1 ? light : dark, 1.5 + next() * 4.5, 0.14 + next() * 0.24)
  })
  const pores = lines(26, () => stroke(`M${next() * 300} ${next() * 700}v${8 + next() * 26}`, dark, 1.6, 0.32))
  return drawing.tile(300, 720, veins + pores, place(lie))
}

function speckle(drawing: Drawing, base: string, lie: Lie): string {
  const next = numbers(21)
  const dark = tone(base, lightness(base) < 0.5 ? 0.2 : -0.32)
  const dots = lines(72, () => {
    const r = 0.9 + next() ** 3 * 3.2
    return `<circle cx="${4 + next() * 294}" cy="${4 + next() * 262}" r="${r}" fill="${dark}" opacity="${0.25 + next() * 0.45}"/>`
  })
  return drawing.tile(304, 272, dots, place(lie))
}

function grid(drawing: Drawing, base: string, lie: Lie): string {
  const { dark, light } = threads(base)
  return drawing.tile(26, 26, stroke('M0 1.5H26M1.5 0V26', light, 2.4, 0.55) + stroke('M0 4H26M4 0V26', dark, 1.6, 0.4), place(lie))
}

/** The clouds and creases of wax that was handled. */
function wax(drawing: Drawing, base: string, lie: Lie): string {
  const [dark, light] = [tone(base, -0.1), tone(base, 0.14)]
  const next = numbers(8)
  const creases = lines(20, () => {
    const [x, y] = [next() * 300, next() * 300]
    return stroke(
      `M${x} ${y}q${next() * 30} ${next() * 34 - 17} ${30 + next() * 50} ${next() * 60 - 30}`,
      next() < 0.6 ? light : dark,
      2 + next() * 2.5,
      0.28,
    )
  })
  return drawing.tile(320, 320, creases, place(lie))
}

function brushed(drawing: Drawing, base: string, lie: Lie): string {
  const [dark, light] = [tone(base, -0.14), tone(base, 0.14)]
  const next = numbers(3)
  const strokes = lines(26, (at) =>
    stroke(`M${next() * 60 - 30} ${at * 5 + 2}h${80 + next() * 170}`, at % 2 ? light : dark, 1.4, 0.1 + next() * 0.18),
  )
  return drawing.tile(220, 132, strokes, place(lie))
}

function flecks(drawing: Drawing, base: string, lie: Lie): string {
  const next = numbers(17)
  const colours = [tone(base, -0.22), tone(base, 0.14), tone(base, -0.14), '#a4683f']
  const fibres = lines(44, (at) => {
    const [x, y] = [8 + next() * 200, 8 + next() * 200]
    return stroke(
      `M${x} ${y}q${next() * 8 - 4} ${next() * 6} ${next() * 14 - 7} ${next() * 12 - 6}`,
      colours[at % 4]!,
      1.2 + next() * 1.6,
      0.4,
    )
  })
  return drawing.tile(224, 224, fibres, place(lie))
}

function laid(drawing: Drawing, base: string, lie: Lie): string {
  const dark = tone(base, -0.13)
  return drawing.tile(92, 8, stroke('M0 2H92', dark, 1.6, 0.34) + stroke('M46 0V8', dark, 2, 0.3), place(lie))
}

function dots(drawing: Drawing, base: string, lie: Lie): string {
  return drawing.tile(30, 30, `<circle cx="15" cy="15" r="2.6" fill="${tone(base, -0.34)}" opacity=".65"/>`, place(lie))
}

const TEXTURES: Record<string, Texture> = {
  Linen: weave,
  Merino: knit,
  Denim: twill,
  Corduroy: wales,
  Flannel: plaid,
  Oak: grain,
  Walnut: grain,
  Stoneware: speckle,
  Wool: knit,
  Waxed: wax,
  Ripstop: grid,
  Titanium: brushed,
  Aluminium: brushed,
  Canvas: canvas,
  Recycled: flecks,
  Laid: laid,
  Dotted: dots,
  'Cloth-Bound': weave,
  Rib: rib,
}

/** The surface of `material`, of this colour, over an outline; nothing for what is smooth. */
export function textured(drawing: Drawing, outline: string, material: string, base: string, lie: Lie = {}, opacity = 1): string {
  const texture = TEXTURES[material]
  return texture ? shape(outline, texture(drawing, base, lie), opacity) : ''
}
