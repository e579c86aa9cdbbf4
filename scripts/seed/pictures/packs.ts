/** Outdoor, to carry: backpack, daypack and dry bag. */
import { fold, piece, seam, type Cloth } from './cloth.ts'
import { box, Drawing, oval, placed, shape, stroke, whole } from './drawing.ts'
import { dyed, lightness, mix, tone } from './palette.ts'
import type { Look } from './picture.ts'
import { backdropFor, contact, room, type Backdrop } from './scene.ts'
import { body, gleam, rod, solidOf, turned } from './solids.ts'

const METALS = ['Titanium', 'Aluminium']

/** A pack's cloth, straps and buckles: one of metal is of plain cloth with fittings of the metal. */
interface Kit {
  cloth: Cloth
  strap: string
  fitting: string
}

function kitOf(drawing: Drawing, look: Look): Kit {
  const isMetal = METALS.includes(look.material)
  const plain = look.material === 'Titanium' ? '#6e7076' : '#aab4b8'
  const base = isMetal && look.colour === null ? plain : dyed(look.material, look.colour)
  const leather = look.material === 'Waxed' || look.material === 'Canvas'
  return {
    cloth: { drawing, material: isMetal ? '' : look.material, base, scale: 1 },
    strap: leather ? '#7a4a2b' : lightness(base) < 0.5 ? '#2f3330' : '#3b3f42',
    fitting: isMetal ? '#d5d8da' : leather ? '#c79a4e' : '#24282b',
  }
}

/** A rounded part, darker toward its foot. */
function panel(cloth: Cloth, outline: string, isRound = 0.7): string {
  const { drawing, base } = cloth
  const shade = drawing.linear(
    [
      [0, tone(base, 0.2), 0.35],
      [0.18, tone(base, 0.2), 0],
      [0.7, tone(base, -0.3), 0],
      [1, tone(base, -0.34), 0.5],
    ],
    [0, 0],
    [0, 1],
  )
  return piece(cloth, outline, {}, isRound) + shape(outline, shade)
}

const under = (cloth: Cloth, outline: string, down = 12) => placed(`translate(4 ${down})`, shape(outline, tone(cloth.base, -0.36), 0.42))

/** A strap that runs down to a buckle. */
function buckled({ strap, fitting }: Kit, x: number, from: number, to: number, width = 34): string {
  const left = x - width / 2
  return (
    shape(box(left + 4, from, width, to - from + 6, 6), '#1a1a1a', 0.25) +
    shape(box(left, from, width, to - from, 6), strap) +
    shape(box(left, from, width * 0.4, to - from, 6), tone(strap, 0.1), 0.5) +
    stroke(
      `M${left + 6} ${from + 4}V${to - 8}M${left + width - 6} ${from + 4}V${to - 8}`,
      tone(strap, 0.22),
      1.6,
      0.7,
      ' stroke-dasharray="6 5"',
    ) +
    shape(box(left - 7, to - 74, width + 14, 42, 9), tone(fitting, -0.16)) +
    shape(box(left - 8, to - 77, width + 14, 40, 9), fitting) +
    shape(box(left + 2, to - 68, width - 4, 22, 4), strap) +
    stroke(`M${left - 2} ${to - 70}h${width + 2}`, tone(fitting, 0.25), 3, 0.7)
  )
}

/** A zip along a line. */
const zip = ({ cloth, fitting, strap }: Kit, d: string): string =>
  stroke(d, tone(cloth.base, -0.2), 20, 0.9) +
  stroke(d, tone(strap, 0.04), 11) +
  stroke(d, fitting === '#24282b' ? '#8d9294' : fitting, 5, 0.9, ' stroke-dasharray="3 4"')

function patch(x: number, y: number, colour: string): string {
  return (
    shape(box(x - 52, y - 34, 104, 68, 8), tone(colour, -0.2), 0.5).replace('<path', '<path transform="translate(2 5)"') +
    shape(box(x - 52, y - 34, 104, 68, 8), colour) +
    stroke(box(x - 44, y - 26, 88, 52, 5), tone(colour, 0.2), 2, 0.7, ' stroke-dasharray="6 5"') +
    shape(`M${x - 24} ${y + 14}L${x - 6} ${y - 14}L${x + 6} ${y + 2}L${x + 12} ${y - 6}L${x + 26} ${y + 14}Z`, tone(colour, 0.28), 0.8)
  )
}

function backpackAt(kit: Kit, { floor }: Backdrop): string {
  const { cloth, strap } = kit
  const main = whole('M0 400C130 400 226 430 244 520C264 640 280 1000 272 1150C266 1214 220 1242 0 1242')
  const lid = whole('M0 356C140 356 246 386 262 480C270 560 268 620 256 668C180 700 90 706 0 706')
  const front = whole('M0 850C100 850 176 852 190 880C206 960 208 1060 202 1130C196 1180 120 1196 0 1196')
  const flap = whole('M0 826C110 826 186 832 202 856C206 900 204 930 196 952C130 974 70 978 0 978')
  const aside = 'M330 850C290 860 262 900 262 980V1140C262 1190 290 1214 340 1214Z'
  const straps = 'M410 520C300 560 268 700 288 900M790 520C900 560 932 700 912 900'
  const roll = solidOf(cloth.drawing, '', tone(mix(cloth.base, '#b9694a', lightness(cloth.base) < 0.62 ? 0.75 : 0.4), 0))
  const right = aside.replace(/(\d+) (\d+)/g, (_, x: string, y: string) => `${1200 - Number(x)} ${y}`)
  return (
    contact(cloth.drawing, 600, 1232, 290, floor) +
    rod(strap, straps, 40, 0.25) +
    panel(cloth, aside) +
    panel(cloth, right) +
    rod(strap, 'M540 372C540 310 560 296 600 296C640 296 660 310 660 372', 26, 0.3) +
    panel(cloth, main) +
    fold(cloth, [400, 720], [420, 800], [392, 900], 14) +
    fold(cloth, [800, 730], [776, 800], [806, 880], 14) +
    under(cloth, front) +
    panel(cloth, front) +
    under(cloth, flap) +
    panel(cloth, flap) +
    seam(cloth, 'M404 944C470 968 530 972 600 972C670 972 730 968 796 944', 3) +
    buckled(kit, 600, 900, 1060) +
    under(cloth, lid, 18) +
    panel(cloth, lid) +
    seam(cloth, 'M352 640C430 676 510 684 600 684C690 684 770 676 848 640', 3) +
    fold(cloth, [470, 400], [440, 500], [460, 640], 16, 0.8) +
    fold(cloth, [740, 420], [764, 520], [742, 650], 14, 0.8) +
    buckled(kit, 476, 560, 800) +
    buckled(kit, 724, 560, 800) +
    patch(600, 560, '#8a5a36') +
    bedroll(cloth.drawing, roll.base, kit)
  )
}

/** A mat rolled up under the lid's top, strapped on. */
function bedroll(drawing: Drawing, base: string, { strap }: Kit): string {
  const paint = drawing.linear(
    [
      [0, tone(base, 0.02)],
      [0.25, tone(base, 0.08)],
      [0.6, tone(base, -0.03)],
      [1, tone(base, -0.2)],
    ],
    [0, 0],
    [0, 1],
  )
  const ring = (r: number, by: number) => oval(872, 318, r * 0.62, r, tone(base, by))
  return (
    shape(box(322, 254, 556, 128, 54), paint) +
    ring(64, -0.02) +
    ring(50, -0.14) +
    ring(40, 0) +
    ring(27, -0.14) +
    ring(18, 0) +
    ring(7, -0.16) +
    [430, 760].map((x) => shape(box(x, 250, 32, 136, 12), strap) + shape(box(x + 4, 254, 9, 128, 4), tone(strap, 0.14), 0.6)).join('')
  )
}

function backpack(look: Look): string {
  const drawing = new Drawing()
  const kit = kitOf(drawing, look)
  const backdrop = backdropFor(kit.cloth.base, look.variation + look.view)
  const pack = backpackAt(kit, backdrop)
  const flask = placed('translate(430 300) scale(.8)', bottle(drawing, backdrop, tone(mix(kit.cloth.base, '#efe5d3', 0.75), 0)))
  return drawing.svg(
    room(drawing, backdrop, look.variation + look.view) + (look.view === 0 ? pack : placed('translate(-110 -6)', pack) + flask),
  )
}

/** A plain bottle beside a pack. */
function bottle(drawing: Drawing, backdrop: Backdrop, colour: string): string {
  const steel = solidOf(drawing, '', colour)
  return (
    contact(drawing, 600, 1232, 100, backdrop.floor) +
    turned(steel, 'M56 800C60 840 104 850 106 910V1210C104 1236 60 1240 0 1240') +
    gleam(steel, [534, 920], [526, 1060], [536, 1200], 9) +
    turned(solidOf(drawing, 'Aluminium', '#c2c6c8'), 'M58 740V800C40 808 0 810 0 810') +
    oval(600, 740, 58, 11, '#dfe2e3') +
    rod('#3b3f42', 'M576 738C570 690 630 690 624 738', 12)
  )
}

function daypackAt(kit: Kit, { floor }: Backdrop): string {
  const { cloth, strap } = kit
  const main = whole('M0 470C120 470 216 500 238 620C254 760 262 1020 254 1150C248 1214 200 1240 0 1240')
  const pocket = whole('M0 850C110 850 190 858 204 890C214 970 214 1070 206 1140C196 1196 130 1208 0 1208')
  return (
    contact(cloth.drawing, 600, 1230, 270, floor) +
    rod(strap, 'M420 600C318 640 300 780 318 990M780 600C882 640 900 780 882 990', 36, 0.25) +
    rod(strap, 'M548 490C540 390 570 372 600 372C630 372 660 390 652 490', 24, 0.3) +
    panel(cloth, main) +
    fold(cloth, [410, 640], [396, 740], [420, 860], 13) +
    fold(cloth, [790, 660], [806, 760], [778, 850], 14) +
    zip(kit, 'M376 800C372 690 388 606 430 570C480 536 540 526 600 526C660 526 720 536 770 570C812 606 828 690 824 800') +
    rod(strap, 'M824 800l4 52', 10) +
    under(cloth, pocket, 10) +
    panel(cloth, pocket) +
    zip(kit, 'M412 912C470 902 530 900 600 900C670 900 730 902 788 912') +
    rod(kit.fitting === '#24282b' ? '#8d9294' : kit.fitting, 'M786 914l6 42', 9) +
    seam(cloth, 'M404 1130C412 1180 470 1190 600 1190C730 1190 788 1180 796 1130', 3) +
    patch(600, 700, kit.strap === '#7a4a2b' ? kit.strap : '#8a5a36') +
    fold(cloth, [500, 960], [490, 1060], [506, 1170], 12, 0.7) +
    fold(cloth, [690, 970], [708, 1060], [690, 1160], 12, 0.7)
  )
}

function daypack(look: Look): string {
  const drawing = new Drawing()
  const kit = kitOf(drawing, look)
  const backdrop = backdropFor(kit.cloth.base, look.variation + look.view)
  const pack = daypackAt(kit, backdrop)
  if (look.view === 0) return drawing.svg(room(drawing, backdrop, look.variation) + placed('translate(0 0)', pack))
  const bench = solidOf(drawing, 'Oak', '#d0a06a')
  const seat =
    shape(box(150, 1246, 900, 16), '#000', 0) +
    body(bench, box(150, 1246, 900, 46, 8), { isFlat: true }) +
    [230, 930].map((x) => body(bench, box(x, 1290, 40, 220))).join('')
  const flask = placed(
    'translate(376 256) scale(.8)',
    bottle(drawing, { wall: '#c9a577', floor: '#c9a577' }, mix(kit.cloth.base, '#efe5d3', 0.75)),
  )
  return drawing.svg(
    room(drawing, backdrop, look.variation + 1) +
      seat +
      placed('translate(-100 12)', daypackAt(kit, { wall: '#c9a577', floor: '#c9a577' })) +
      flask,
  )
}

function dryBagAt(kit: Kit, { floor }: Backdrop): string {
  const { cloth, strap, fitting } = kit
  const main = whole('M0 560C110 560 214 566 222 640C236 720 244 800 244 900V1150C244 1216 170 1242 0 1242')
  const rolled = box(386, 452, 428, 116, 30)
  const roll = cloth.drawing.linear(
    [
      [0, tone(cloth.base, 0.1)],
      [0.3, tone(cloth.base, 0.02)],
      [1, tone(cloth.base, -0.18)],
    ],
    [0, 0],
    [0, 1],
  )
  const shine = cloth.material === 'Canvas' || cloth.material === 'Waxed' ? 0.14 : 0.32
  const glint = (d: string) => shape(d, '#fffaf0', shine)
  return (
    contact(cloth.drawing, 600, 1228, 250, floor) +
    panel(cloth, main, 1) +
    fold(cloth, [450, 570], [424, 680], [440, 800], 20) +
    fold(cloth, [540, 570], [530, 660], [546, 760], 14) +
    fold(cloth, [680, 570], [692, 680], [668, 780], 16) +
    fold(cloth, [760, 572], [784, 700], [764, 860], 20) +
    glint('M408 700C392 860 392 1040 410 1170C386 1060 380 840 408 700Z') +
    glint('M430 760C420 880 420 980 430 1080C412 980 412 860 430 760Z') +
    cloth.drawing.inside(main, shape(whole('M0 1128C120 1128 200 1118 250 1100V1260H0'), tone(cloth.base, -0.3), 0.4)) +
    rod(strap, 'M392 520C330 440 380 330 600 330C820 330 870 440 808 520', 30, 0.3) +
    shape(box(548, 302, 104, 52, 12), tone(fitting, -0.1)) +
    shape(box(556, 306, 84, 20, 8), tone(fitting, 0.2), 0.7) +
    shape(box(588, 302, 6, 52), tone(fitting, -0.3), 0.8) +
    shape(rolled, roll) +
    (cloth.material ? piece(cloth, rolled, {}, 0.4) : '') +
    shape(rolled, roll, 0.45) +
    stroke('M396 490C520 500 680 500 804 490M392 528C520 538 680 538 808 528', tone(cloth.base, -0.24), 5, 0.5) +
    stroke('M408 470H790', tone(cloth.base, 0.22), 5, 0.5) +
    shape(box(372, 466, 34, 88, 10), strap) +
    shape(box(794, 466, 34, 88, 10), strap) +
    patch(600, 900, tone(cloth.base, lightness(cloth.base) < 0.62 ? 0.24 : -0.24)) +
    stroke('M820 640C850 720 850 980 826 1120', strap, 18) +
    oval(838, 700, 13, 20, fitting) +
    oval(834, 1060, 13, 20, fitting)
  )
}

function dryBag(look: Look): string {
  const drawing = new Drawing()
  const kit = kitOf(drawing, look)
  const backdrop = backdropFor(kit.cloth.base, look.variation + look.view)
  const bag = dryBagAt(kit, backdrop)
  const other = {
    ...kit,
    cloth: { ...kit.cloth, material: '', base: mix(kit.cloth.base, lightness(kit.cloth.base) > 0.62 ? '#3c4a55' : '#e9c27a', 0.85) },
  }
  const pair = placed('translate(-120 -10)', bag) + placed('translate(504 570) scale(.58)', dryBagAt(other, backdrop))
  return drawing.svg(room(drawing, backdrop, look.variation + look.view) + (look.view === 0 ? bag : pair))
}

/** Pictures of what one carries, by the name of the thing. */
export const PACKS = { Backpack: backpack, Daypack: daypack, 'Dry Bag': dryBag }
