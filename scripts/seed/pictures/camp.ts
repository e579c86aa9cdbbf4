/** Outdoor, for the camp: tarp, lantern, stove and flask. */
import { fold, piece, seam, type Cloth } from './cloth.ts'
import { cup } from './companions.ts'
import { box, Drawing, oval, placed, shape, stroke, whole } from './drawing.ts'
import { dyed, lightness, mix, tone } from './palette.ts'
import type { Look } from './picture.ts'
import { backdropFor, contact, halo, pool, room } from './scene.ts'
import { as, gleam, inRoom, mouth, rod, solidOf, turned, type Solid, type Still } from './solids.ts'

const SOFT = ['Waxed', 'Ripstop', 'Canvas']

/** A sleeve of the cloth that a hard thing is sold in, over its enamel. */
const sleeve = ({ drawing, material, base }: Solid, outline: string, tint = -0.04): string =>
  SOFT.includes(material)
    ? placed('translate(0 7)', shape(outline, tone(base, -0.36), 0.4)) +
      piece({ drawing, material, base: tone(base, tint), scale: 1 }, outline, {}, 1)
    : ''

/** The enamel beside a sleeve of cloth. */
const metalOf = (solid: Solid): Solid => (SOFT.includes(solid.material) ? as(solid, 'metal', '#b9bcbb', 'Aluminium') : solid)

/** The flame of a lantern, in its glass. */
function burning(solid: Solid): string {
  const { drawing } = solid
  const glass = as(solid, 'glass', '#f6dfa6')
  const flame = drawing.radial(
    [
      [0, '#fffbe6'],
      [0.5, '#ffd772'],
      [1, '#f09a3c'],
    ],
    [0.5, 0.7],
    0.6,
  )
  return (
    oval(
      600,
      830,
      150,
      190,
      drawing.radial([
        [0, '#fff3cc', 0.95],
        [1, '#ffe09a', 0.25],
      ]),
    ) +
    shape('M600 770C640 830 640 880 620 910C610 926 590 926 580 910C560 880 560 830 600 770Z', flame) +
    shape(box(580, 914, 40, 90, 6), '#8b7440') +
    turned(glass, 'M104 640C150 700 176 780 168 860C160 930 130 970 112 1000C60 1010 0 1010 0 1010') +
    gleam(glass, [478, 720], [444, 840], [490, 970], 14) +
    gleam(glass, [736, 760], [752, 860], [728, 940], 6)
  )
}

function lanternAt({ drawing, backdrop, solid, look }: Still): string {
  const isSoft = SOFT.includes(solid.material)
  const metal = isSoft ? as(solid, 'enamel') : solid
  const { base } = metal
  const bail =
    stroke('M404 1000C370 760 400 300 600 290C800 300 830 760 796 1000', tone(base, -0.22), 14) +
    stroke('M401 996C366 760 397 298 598 287', tone(base, 0.14), 4, 0.7)
  const knob = isSoft ? '' : rod(tone(base, -0.08), 'M780 1130h54', 16) + oval(842, 1130, 15, 24, tone(base, -0.02))
  const vents = [-84, -28, 28, 84].map((x) => oval(600 + x, 590 - Math.abs(x) * 0.12, 13, 20, tone(base, -0.3))).join('')
  return (
    halo(drawing, 600, 830, 560, 560, '#ffdf91', look.view ? 0.95 : 0.75) +
    contact(drawing, 600, 1230, 210, backdrop.floor) +
    halo(drawing, 600, 1246, 430, 70, '#ffe6a6', 0.6) +
    bail +
    burning(solid) +
    stroke('M440 640V1010M760 640V1010', tone(base, -0.16), 12) +
    stroke('M432 860Q600 900 768 860', tone(base, -0.16), 8) +
    turned(metal, 'M60 430C100 440 110 470 112 520H128C150 540 158 580 158 634C120 656 40 660 0 660') +
    vents +
    oval(600, 431, 60, 12, tone(base, 0.1)) +
    rod(tone(base, -0.05), 'M574 428C570 380 630 380 626 428', 14) +
    turned(metal, 'M122 996C150 1004 178 1016 186 1040C214 1060 226 1090 226 1130V1190C222 1228 160 1240 0 1242') +
    stroke('M416 1046Q600 1086 784 1046', tone(base, -0.24), 5, 0.5) +
    sleeve(solid, whole('M0 1120C100 1120 180 1108 227 1088C230 1130 230 1160 226 1190C160 1216 80 1220 0 1220')) +
    gleam(metal, [396, 1090], [388, 1140], [394, 1190], 10) +
    gleam(metal, [468, 560], [462, 590], [468, 630], 8) +
    knob
  )
}

function lantern(still: Still): string {
  if (still.look.view === 0) return lanternAt(still)
  const { drawing, backdrop, solid } = still
  return (
    shape(box(0, 0, 1200, 1500), '#26305a', 0.62) +
    placed('translate(-110 -30)', lanternAt(still)) +
    cup(drawing, 900, 1310, mix('#e9dcc4', solid.base, 0.15), tone(backdrop.floor, -0.15))
  )
}

function stoveAt({ drawing, backdrop, solid }: Still, hasPot: boolean): string {
  const steel = solidOf(drawing, 'Titanium', '#a9adb0')
  const can = SOFT.includes(solid.material) || solid.kind === 'enamel' ? as(solid, 'enamel') : solid
  const flame = (x: number, h: number) =>
    shape(
      `M${x} ${824 - h}C${x + 22} ${800 - h * 0.3} ${x + 20} 820 ${x} 826C${x - 20} 820 ${x - 22} ${800 - h * 0.3} ${x} ${824 - h}Z`,
      '#5fa8e0',
      0.75,
    ) +
    shape(`M${x} ${824 - h * 0.5}C${x + 10} 806 ${x + 10} 822 ${x} 825C${x - 10} 822 ${x - 10} 806 ${x} ${824 - h * 0.5}Z`, '#d9f0ff', 0.9)
  const arm = (d: string) => rod('#7d8286', d, 16, 0.8)
  const pot = placed(
    'translate(0 -14)',
    turned(hasPot ? steel : can, 'M214 470V710C210 738 150 748 0 750') +
      rod('#5c6064', 'M810 520C930 520 930 640 812 640', 16) +
      gleam(steel, [428, 500], [418, 600], [428, 720], 14) +
      mouth(steel, 600, 470, 214, 40, 10) +
      oval(600, 484, 190, 28, '#b0713c') +
      oval(550, 478, 80, 10, '#d99a5c', 0.6),
  )
  return (
    contact(drawing, 600, 1232, 226, backdrop.floor) +
    turned(can, 'M40 958C150 964 226 990 236 1050V1190C232 1226 180 1240 0 1242') +
    stroke('M364 1056Q600 1100 836 1056', tone(can.base, -0.2), 5, 0.4) +
    sleeve(solid, whole('M0 1110C100 1110 190 1098 237 1078V1180C180 1206 80 1212 0 1212')) +
    shape(
      whole('M0 1136C100 1136 190 1124 237 1104V1122C190 1142 100 1154 0 1154'),
      lightness(can.base) > 0.55 ? tone(can.base, -0.2) : tone(can.base, 0.25),
      SOFT.includes(solid.material) ? 0 : 0.6,
    ) +
    gleam(can, [392, 1070], [382, 1120], [392, 1200], 14) +
    turned(steel, 'M56 936H58V970C40 978 0 978 0 978') +
    turned(steel, 'M26 850V940C14 946 0 946 0 946') +
    rod('#8d9296', 'M624 906H748', 14, 0.8) +
    shape('M748 884H800Q812 906 800 928H748Z', '#d0a24c') +
    arm('M600 880L432 826V770L392 752') +
    arm('M600 880L768 826V770L808 752') +
    turned(steel, 'M92 812C96 836 60 860 30 868C10 870 0 870 0 870') +
    oval(600, 812, 92, 20, '#6a6e72') +
    oval(600, 812, 70, 13, '#43474b') +
    [-66, -34, 0, 34, 66].map((x) => flame(600 + x, hasPot ? 66 : 96 - Math.abs(x) * 0.5)).join('') +
    arm('M600 890V840') +
    (hasPot ? pot : '')
  )
}

const stove = (still: Still): string => placed(`translate(0 ${still.look.view ? 30 : -10})`, stoveAt(still, still.look.view === 1))

function flaskAt({ drawing, backdrop, solid }: Still, isOpen: boolean): string {
  const metal = SOFT.includes(solid.material) ? metalOf(solid) : solid
  const half = 'M82 520C86 566 150 590 158 670C162 860 162 1040 160 1190C156 1230 100 1242 0 1244'
  const cap = isOpen
    ? turned(solidOf(drawing, 'Titanium', '#b3b6b8'), 'M66 470V530C40 538 0 538 0 538') +
      mouth(solidOf(drawing, 'Titanium', '#b3b6b8'), 600, 470, 66, 14, 8)
    : turned(
        as(metal, metal.kind, tone(metal.base, metal.kind === 'metal' ? -0.08 : -0.1)),
        'M84 372C92 372 96 380 96 392V516C70 530 20 532 0 532',
      ) +
      oval(600, 376, 88, 15, tone(metal.base, 0.08)) +
      stroke('M504 480Q600 506 696 480', tone(metal.base, -0.25), 4, 0.5) +
      rod('#3a2a20', 'M500 420C430 400 420 330 600 326C780 330 770 400 700 420', 18, 0.3)
  return (
    contact(drawing, 600, 1232, 168, backdrop.floor) +
    turned(metal, half) +
    shape(box(512, 522, 176, 16, 6), '#9b9ea0', 0.9) +
    cap +
    sleeve(solid, whole('M0 760C80 760 130 752 160 742C164 900 162 1050 160 1192C154 1228 100 1240 0 1242')) +
    (SOFT.includes(solid.material)
      ? stroke('M442 764C520 780 680 780 758 764', tone(solid.base, 0.2), 3, 0.8, ' stroke-dasharray="8 6"') +
        shape(box(566, 900, 68, 92, 8), '#7a4a2b') +
        stroke(box(574, 908, 52, 76, 5), '#d3a878', 2, 0.8, ' stroke-dasharray="5 5"')
      : stroke('M442 1150Q600 1186 758 1150', tone(metal.base, -0.2), 5, 0.45)) +
    (SOFT.includes(solid.material)
      ? gleam(metal, [482, 610], [458, 670], [458, 740], 10)
      : gleam(metal, [474, 660], [464, 900], [474, 1180], 13) + gleam(metal, [738, 700], [744, 900], [738, 1120], 5))
  )
}

function flask(still: Still): string {
  if (still.look.view === 0) return flaskAt(still, false)
  const { drawing, backdrop, solid } = still
  const steam = (x: number) =>
    stroke(`M${x} 1090C${x - 40} 1040 ${x + 40} 1000 ${x} 940C${x - 24} 900 ${x + 10} 870 ${x} 840`, '#fffaf0', 16, 0.3)
  return (
    placed('translate(-130 0)', flaskAt(still, true)) +
    cup(drawing, 850, 1310, SOFT.includes(solid.material) ? '#cfd2d2' : solid.base, backdrop.floor) +
    steam(820) +
    steam(884)
  )
}

/** A tarp's cloth; one that is named after a metal is plain, and its poles and pegs are of the metal. */
function tarpCloth(drawing: Drawing, look: Look): Cloth {
  const isSoft = SOFT.includes(look.material)
  const plain = look.material === 'Titanium' ? '#7b7f86' : '#b4c0c4'
  return {
    drawing,
    material: isSoft ? look.material : '',
    base: !isSoft && !look.colour ? plain : dyed(look.material, look.colour),
    scale: 1,
  }
}

/** The two sides of a pitched tarp, with the folds that run from its top. */
function sides(cloth: Cloth): string {
  const { drawing, base } = cloth
  const left = 'M600 470Q420 780 130 1130Q300 1100 420 1150Q540 800 600 470Z'
  const right = 'M600 470Q780 780 1070 1130Q900 1100 780 1150Q660 800 600 470Z'
  const light = drawing.linear(
    [
      [0, tone(base, 0.12), 0.5],
      [0.6, base, 0],
      [1, tone(base, -0.2), 0.35],
    ],
    [0.2, 0.3],
    [1, 0.8],
  )
  const eyelet = (x: number, y: number) => oval(x, y, 9, 9, '#d8c08a') + oval(x, y, 4, 4, tone(base, -0.26))
  return (
    piece(cloth, left, { angle: 34 }, 0.2) +
    shape(left, light) +
    piece({ ...cloth, base: tone(base, -0.06) }, right, { angle: -34 }, 0.2) +
    fold(cloth, [586, 500], [420, 800], [250, 1108], 18) +
    fold(cloth, [596, 500], [500, 840], [370, 1120], 16, 0.8) +
    fold(cloth, [604, 500], [700, 840], [830, 1124], 16, 0.8) +
    fold(cloth, [616, 500], [790, 800], [950, 1106], 18) +
    seam(cloth, 'M600 470Q540 800 420 1150M600 470Q660 800 780 1150', 5) +
    stroke('M130 1130Q300 1100 420 1150M1070 1130Q900 1100 780 1150', tone(base, -0.22), 6, 0.7) +
    eyelet(420, 1146) +
    eyelet(780, 1146) +
    eyelet(140, 1124) +
    eyelet(1060, 1124)
  )
}

/** Pitched over a pole, its front open. */
function pitched(drawing: Drawing, look: Look): string {
  const cloth = tarpCloth(drawing, look)
  const backdrop = backdropFor(cloth.base, look.variation)
  const dark = tone(cloth.base, -0.26)
  const peg = (x: number, y: number) =>
    shape(`M${x - 5} ${y - 26}h10l-3 40h-4Z`, '#8b8f92') + contact(drawing, x, y + 10, 18, backdrop.floor)
  const line = (d: string) => stroke(d, '#f7efdd', 4, 0.95)
  return (
    room(drawing, backdrop, look.variation) +
    pool(drawing, 630, 1160, 560, 70, backdrop.floor) +
    line('M600 470L600 400') +
    shape(
      'M600 470Q540 800 420 1150L780 1150Q660 800 600 470Z',
      drawing.linear(
        [
          [0, tone(dark, 0.06)],
          [1, tone(dark, -0.06)],
        ],
        [0, 0],
        [0, 1],
      ),
    ) +
    shape('M600 640Q560 900 480 1150H720Q640 900 600 640Z', tone(dark, -0.08), 0.6) +
    rod(SOFT.includes(look.material) ? '#b98a58' : '#b6babd', 'M600 430V1166', 16, 0.7) +
    line('M600 452L60 1220M600 452L1140 1220') +
    line('M130 1130L84 1172M1070 1130L1116 1172') +
    sides(cloth) +
    peg(84, 1176) +
    peg(1116, 1176) +
    peg(60, 1224) +
    peg(1140, 1224) +
    oval(600, 428, 13, 13, '#d8c08a')
  )
}

/** Rolled up and strapped, with its pegs. */
function rolled(drawing: Drawing, look: Look): string {
  const cloth = tarpCloth(drawing, look)
  const backdrop = backdropFor(cloth.base, look.variation + 1)
  const outline = box(190, 860, 780, 330, 150)
  const end = (rx: number, by: number) => oval(880, 1025, rx * 0.56, rx, tone(cloth.base, by))
  const light = drawing.linear(
    [
      [0, tone(cloth.base, 0.18), 0.55],
      [0.3, tone(cloth.base, 0.18), 0],
      [0.55, tone(cloth.base, -0.3), 0],
      [1, tone(cloth.base, -0.34), 0.75],
    ],
    [0, 0],
    [0, 1],
  )
  const strap = (x: number) =>
    shape(`M${x} 858Q${x - 26} 1020 ${x} 1192H${x + 40}Q${x + 14} 1020 ${x + 40} 858Z`, '#7a4a2b') +
    stroke(`M${x + 8} 862Q${x - 18} 1020 ${x + 8} 1188`, '#b78455', 3, 0.7) +
    shape(box(x - 24, 960, 64, 52, 8), '#c79a4e') +
    shape(box(x - 12, 972, 40, 28, 4), '#7a4a2b')
  const pegs = [0, 1, 2]
    .map(
      (at) =>
        rod('#a9adaf', `M${400 + at * 40} ${1300 + at * 40}l270 -34`, 14, 0.9) +
        rod('#d98a3c', `M${400 + at * 40} ${1300 + at * 40}l-12 -28`, 12),
    )
    .join('')
  return (
    room(drawing, backdrop, look.variation + 1) +
    contact(drawing, 590, 1180, 400, backdrop.floor) +
    piece(cloth, outline, {}, 0.2) +
    fold(cloth, [260, 930], [500, 946], [800, 920], 10) +
    fold(cloth, [230, 1080], [500, 1066], [790, 1090], 12) +
    shape(outline, light) +
    end(158, 0.01) +
    [130, 104, 78, 52, 28].map((r, at) => end(r, at % 2 ? 0.02 : -0.13) + end(r - 9, 0)).join('') +
    strap(356) +
    strap(640) +
    stroke('M200 1010C120 960 120 860 210 850C330 838 330 790 300 760', '#f7efdd', 7) +
    pegs
  )
}

function tarp(look: Look): string {
  const drawing = new Drawing()
  return drawing.svg(look.view === 0 ? pitched(drawing, look) : rolled(drawing, look))
}

/** Pictures of what is for the camp, by the name of the thing. */
export const CAMP = { Tarp: tarp, Lantern: inRoom(lantern), 'Camp Stove': inRoom(stove), Flask: inRoom(flask) }
