/** Home: a throw over a rail, and one folded on a stool. */
import { fold, piece, type Cloth } from './cloth.ts'
import { box, Drawing, shape, stroke } from './drawing.ts'
import { dyed, lightness, mix, tone } from './palette.ts'
import type { Look } from './picture.ts'
import { backdropFor, contact, pool, room, surface, thrown } from './scene.ts'
import { body, solidOf, woodBeside, type Solid } from './solids.ts'

/** A throw is of wool, or woven of linen; wood and brass are what it hangs on. */
function throwCloth(drawing: Drawing, look: Look): Cloth {
  const isKnit = look.material === 'Wool' || look.material === 'Stoneware'
  return {
    drawing,
    material: isKnit ? 'Wool' : 'Linen',
    base: dyed(look.material === 'Glass' && !look.colour ? 'Wool' : look.material, look.colour),
    scale: 1,
  }
}

function fringe(base: string, x: number, y: (x: number) => number, width: number, length: number): string {
  const tassel = (at: number) => {
    const [left, top] = [x + at, y(x + at)]
    return `M${left} ${top}l9 0l${3 + (at % 5)} ${length}l-${14 + (at % 3)} ${(at % 7) - 2}Z`
  }
  const all = Array.from({ length: Math.floor(width / 15) }, (_, at) => tassel(at * 15))
  return (
    shape(all.filter((_, at) => at % 2 === 0).join(''), tone(base, 0.03)) + shape(all.filter((_, at) => at % 2).join(''), tone(base, -0.07))
  )
}

function hungThrow(drawing: Drawing, look: Look): string {
  const cloth = throwCloth(drawing, look)
  const backdrop = backdropFor(cloth.base, look.variation)
  const rail = woodBeside(solidOf(drawing, look.material, dyed(look.material, null)))
  const front =
    'M256 300C290 280 850 280 884 300C900 500 890 860 908 1176C830 1192 760 1164 690 1182C610 1200 540 1166 460 1184C390 1196 320 1172 236 1180C254 800 244 500 256 300Z'
  const back = 'M820 300C890 290 930 296 950 306C956 500 946 760 962 1020L820 1030Z'
  const stripe = lightness(cloth.base) > 0.72 ? mix(cloth.base, '#a5674a', 0.6) : mix(cloth.base, '#f3e8d2', 0.8)
  const bands = [340, 350, 560, 570, 780, 790]
    .map((x) => box(x, 280, 4, 930))
    .concat([430, 440, 650, 660, 870, 880, 1090, 1100].map((y) => box(220, y, 700, 4)))
  const stripes = drawing.inside(front, shape(bands.join(''), stripe, 0.75))
  const dip = (x: number) => 1178 + Math.sin((x - 236) / 62) * 7
  const rod2 = shape(
    box(120, 262, 960, 44, 22),
    drawing.linear(
      [
        [0, tone(rail.base, 0.08)],
        [0.4, rail.base],
        [1, tone(rail.base, -0.16)],
      ],
      [0, 0],
      [0, 1],
    ),
  )
  return (
    surface(drawing, backdrop, look.variation) +
    thrown(box(120, 262, 960, 44, 22), backdrop, 30) +
    thrown(`${front}${back}`, backdrop, 34) +
    [190, 1010].map((x) => shape(box(x - 12, 220, 24, 80, 12), tone(rail.base, -0.12))).join('') +
    rod2 +
    fringe(tone(cloth.base, -0.1), 826, () => 1016, 134, 66) +
    piece({ ...cloth, base: tone(cloth.base, -0.1) }, back) +
    fringe(cloth.base, 240, dip, 660, 84) +
    piece(cloth, front) +
    stripes +
    fold(cloth, [370, 320], [340, 740], [376, 1160], 26) +
    fold(cloth, [520, 330], [556, 740], [506, 1160], 30) +
    fold(cloth, [690, 320], [660, 760], [704, 1160], 28) +
    fold(cloth, [820, 330], [846, 700], [816, 1150], 20) +
    shape(
      'M256 300C290 280 850 280 884 300L886 354C760 332 400 332 255 354Z',
      drawing.linear(
        [
          [0, tone(cloth.base, 0.16), 0.75],
          [1, tone(cloth.base, -0.2), 0.12],
        ],
        [0, 0],
        [0, 1],
      ),
    )
  )
}

/** One fold of a folded throw, its upper edge at `y`. */
function foldAt(cloth: Cloth, y: number, inset: number, tint: number): string {
  const { drawing, base } = cloth
  const [left, right] = [300 + inset, 910 - inset]
  const outline = `M${left} ${y + 50}Q${left - 4} ${y} ${left + 50} ${y}L${right - 50} ${y - 6}Q${right + 2} ${y - 4} ${right} ${y + 52}Q${right + 2} ${y + 108} ${right - 52} ${y + 108}H${left + 50}Q${left - 2} ${y + 108} ${left} ${y + 50}Z`
  const shade = drawing.linear(
    [
      [0, tone(base, 0.18), 0.5],
      [0.35, base, 0],
      [1, tone(base, -0.34), 0.65],
    ],
    [0, 0],
    [0, 1],
  )
  return piece({ ...cloth, base: tone(base, tint) }, outline, {}, 0.7) + shape(outline, shade)
}

function stool(drawing: Drawing, wood: Solid, floor: string): string {
  const foot = (x: number, y: number) => contact(drawing, x, y, 28, floor)
  const leg = (d: string) => body(wood, d)
  return (
    pool(drawing, 630, 1226, 340, 46, floor) +
    foot(362, 1248) +
    foot(838, 1248) +
    foot(476, 1200) +
    foot(722, 1200) +
    leg('M372 960L420 960L378 1250L346 1250Z') +
    leg('M828 960L780 960L822 1250L854 1250Z') +
    leg('M470 960H500L486 1200H464Z') +
    leg('M730 960H700L714 1200H736Z') +
    shape(box(290, 930, 620, 50, 22), tone(wood.base, -0.16)) +
    body(wood, box(286, 914, 628, 50, 22), { isFlat: true })
  )
}

/** Folded, on a stool. */
function foldedThrow(drawing: Drawing, look: Look): string {
  const cloth = throwCloth(drawing, look)
  const { base } = cloth
  const backdrop = backdropFor(base, look.variation + 2)
  const wood = woodBeside(solidOf(drawing, look.material, dyed(look.material, null)))
  const over = 'M470 576C540 566 680 566 742 574C752 700 746 820 752 900C660 912 560 908 462 902C472 800 462 680 470 576Z'
  const light = drawing.linear(
    [
      [0, tone(base, 0.2), 0.5],
      [0.3, base, 0],
      [0.85, base, 0],
      [1, tone(base, -0.3), 0.3],
    ],
    [0, 0],
    [0, 1],
  )
  return (
    room(drawing, backdrop, look.variation + 1) +
    stool(drawing, wood, backdrop.floor) +
    foldAt(cloth, 806, 0, -0.02) +
    foldAt(cloth, 700, 8, 0) +
    foldAt(cloth, 594, 2, 0.015) +
    fringe(base, 466, () => 896, 286, 70) +
    piece(cloth, over) +
    shape(over, light) +
    stroke('M470 590L466 890', tone(base, -0.3), 6, 0.35) +
    stroke('M750 590L756 890', tone(base, -0.3), 8, 0.4) +
    fold(cloth, [560, 600], [574, 720], [552, 880], 14) +
    fold(cloth, [660, 600], [648, 740], [668, 880], 14)
  )
}

/** The picture of a throw. */
export function blanket(look: Look): string {
  const drawing = new Drawing()
  return drawing.svg(look.view === 0 ? hungThrow(drawing, look) : foldedThrow(drawing, look))
}
