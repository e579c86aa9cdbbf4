/** Clothing: shirts on a hanger, knitwear laid out, and either of them folded. */
import { button, both, fold, neck, piece, pocket, ribbed, seam, type Cloth } from './cloth.ts'
import { box, Drawing, placed, shape, side, stroke, whole } from './drawing.ts'
import { dyed, mix, tone } from './palette.ts'
import type { Look } from './picture.ts'
import { backdropFor, surface, thrown } from './scene.ts'
import { textured } from './textures.ts'

/** How a garment is cut: right halves, x counted from the middle; and what is sewn on, over the body. */
interface Cut {
  body: string
  sleeve: string
  /** The end of the sleeve, and of the body where it has one of its own. */
  cuff: string
  hem?: string
  neck: string
  labelAt: number
  /** How far the sleeve hangs from upright. */
  angle: number
  isKnit: boolean
  sewn: (cloth: Cloth) => string
}

const LONG = {
  sleeve: 'M244 343C290 362 318 424 334 500L430 968C396 990 350 998 312 990L256 640C236 540 232 430 244 343Z',
  cuff: 'M424 936L437 1014C402 1034 354 1040 321 1032L308 956C348 960 394 956 424 936Z',
  angle: -11,
}
const SHORT = {
  sleeve: 'M240 341C300 362 352 430 404 540C374 576 318 602 262 614L246 590C230 520 228 420 240 341Z',
  cuff: 'M394 519L406 543C374 579 316 606 262 616L254 590C306 580 360 554 394 519Z',
  angle: -27,
}
const KNIT = {
  sleeve: 'M236 348C298 372 332 450 350 540L438 940C402 968 350 976 310 966L254 690C230 560 224 440 236 348Z',
  cuff: 'M433 924C439 968 442 998 442 1026C408 1044 364 1050 326 1042C325 1012 319 982 307 952C352 964 398 954 433 924Z',
  angle: -11,
}
const TAILED =
  'M0 330C36 326 66 306 88 274C136 300 192 320 246 343C232 420 230 520 252 628C250 780 258 960 264 1090C262 1136 250 1146 222 1148C150 1152 80 1206 0 1206'
const STRAIGHT =
  'M0 330C36 326 66 306 88 274C136 300 192 320 246 343C232 420 230 520 252 628C250 800 258 1000 262 1150C170 1164 80 1168 0 1168'
const JUMPER =
  'M0 352C50 348 84 318 98 272C144 300 192 322 240 349C228 440 230 560 256 664C266 800 272 940 266 1076C180 1092 90 1096 0 1096'
const HEM = 'M0 1094C90 1094 178 1090 267 1072C268 1112 262 1146 254 1172C170 1188 90 1192 0 1192'
const NECK = 'M0 212C42 212 74 226 90 262C90 310 50 372 0 384'

function collar(cloth: Cloth, spread = 0): string {
  const leafOf = `M62 226C84 236 100 256 108 ${282 + spread}L${96 + spread} ${396 - spread}C64 382 28 354 0 326C34 304 56 270 62 226Z`
  const shade = shape(side(leafOf, 1), tone(cloth.base, -0.34), 0.35) + shape(side(leafOf, -1), tone(cloth.base, -0.34), 0.3)
  return (
    placed('translate(4 10)', shade) +
    both(leafOf, (d, which) => piece(cloth, d, { angle: which * 38 }, 0.3) + stroke(d, tone(cloth.base, -0.18), 2.5, 0.5)) +
    both(`M102 ${286 + spread}L${90 + spread} ${386 - spread}C64 374 32 350 8 328`, (d) => stroke(d, tone(cloth.base, 0.14), 2.5, 0.5))
  )
}

function placket(cloth: Cloth, from: number, to: number, buttons: number[]): string {
  const strip = box(576, from, 48, to - from)
  return (
    shape(box(622, from, 12, to - from), tone(cloth.base, -0.3), 0.28) +
    piece(cloth, strip, {}, 0.2) +
    seam(cloth, `M579 ${from}V${to}`, 2) +
    stroke(`M623 ${from}V${to}`, tone(cloth.base, -0.2), 3, 0.5) +
    buttons.map((y) => button(cloth, 600, y)).join('')
  )
}

/** The tee under an open overshirt, and the edges of its fronts. */
function openFront(cloth: Cloth): string {
  const tee: Cloth = { ...cloth, material: 'Cotton', base: '#f3ede2' }
  const gap = 'M0 330C26 330 60 300 74 268C70 420 62 700 76 1164C50 1167 20 1168 0 1168'
  const edge = 'M74 268C70 420 62 700 76 1164'
  const band = whole('M0 352C40 350 62 318 72 284C76 286 78 290 78 294C70 344 40 376 0 378')
  return (
    shape(whole(gap), tone(tee.base, -0.07)) +
    shape(
      whole(gap),
      cloth.drawing.linear([
        [0, '#5b4a3a', 0.55],
        [0.22, '#5b4a3a', 0.06],
        [0.8, '#5b4a3a', 0],
        [1, '#5b4a3a', 0.3],
      ]),
    ) +
    ribbed(tee, band) +
    fold(tee, [606, 480], [622, 700], [596, 1060], 12, 0.7) +
    both(edge, (d) => seam(cloth, d, 5)) +
    [440, 590, 740, 890, 1040].map((y) => button(cloth, 688, y)).join('')
  )
}

function cardiganFront(cloth: Cloth): string {
  const { base, drawing } = cloth
  const gap = whole('M0 214C40 214 66 226 84 262C78 420 44 560 0 640')
  const band = 'M80 236C92 242 106 262 112 280C108 440 70 590 26 690L24 1190L-24 1190L-24 690C30 590 76 440 80 236Z'
  const inside = drawing.linear(
    [
      [0, tone(base, -0.12)],
      [0.5, tone(base, -0.26)],
      [1, tone(base, -0.2)],
    ],
    [0, 0],
    [0, 1],
  )
  const dip = shape(gap, inside) + textured(drawing, gap, 'Merino', tone(base, -0.2), { scale: cloth.scale }, 0.5)
  return (
    dip +
    shape('M572 236h56v30h-56Z', '#f3ead9') +
    placed('translate(6 6)', shape(side(band, 1), tone(base, -0.34), 0.3)) +
    ribbed(cloth, side('M-80 236C-92 242 -106 262 -112 280C-108 440 -70 590 -26 690L20 700C-30 590 -76 440 -80 236Z', 1), 14) +
    ribbed(cloth, side(band, 1), 90) +
    stroke(side(band, 1), tone(base, -0.22), 3, 0.45) +
    [722, 824, 926, 1028, 1140].map((y) => button(cloth, 600, y, 14)).join('') +
    both('M84 880L204 880L204 904L84 904Z', (d) => ribbed(cloth, d)) +
    both('M84 907L204 907', (d) => stroke(d, tone(base, -0.3), 5, 0.4))
  )
}

function crew(cloth: Cloth, width = 34): string {
  const rim = `M0 ${392 - width}C48 ${390 - width} 72 318 84 262C92 266 100 272 ${78 + width} 276C104 340 66 392 0 394`
  return (
    placed('translate(0 9)', shape(whole(rim), tone(cloth.base, -0.34), 0.28)) +
    ribbed(cloth, whole(rim)) +
    stroke(side('M0 394C66 392 104 340 110 278', 1), tone(cloth.base, -0.2), 2.5, 0.5)
  )
}

function turtle(cloth: Cloth): string {
  const tube = whole('M0 168C44 168 78 172 90 182C88 230 92 268 112 300C80 366 36 376 0 376')
  const turned = whole('M0 160C50 160 84 166 96 176C104 226 108 252 110 270C76 298 34 304 0 304')
  const mouth = whole('M0 158C50 158 84 164 96 176C84 190 48 196 0 196')
  return (
    placed('translate(2 14)', shape(tube, tone(cloth.base, -0.34), 0.35)) +
    ribbed(cloth, tube) +
    placed('translate(0 10)', shape(turned, tone(cloth.base, -0.34), 0.4)) +
    ribbed(cloth, turned) +
    shape(mouth, tone(cloth.base, -0.22)) +
    stroke(side('M-96 176C-84 192 -48 198 0 198C48 198 84 192 96 176', 1), tone(cloth.base, 0.12), 4, 0.6)
  )
}

const shirtFront = (cloth: Cloth) =>
  placket(cloth, 322, 1205, [352, 490, 630, 770, 910, 1050]) + pocket(cloth, 674, 500, 124, 144) + collar(cloth)

function overshirtFront(cloth: Cloth): string {
  const pockets = (y: number, height: number, hasFlap: boolean) =>
    pocket(cloth, 376, y, 112, height, hasFlap) + pocket(cloth, 712, y, 112, height, hasFlap)
  return openFront(cloth) + pockets(500, 150, true) + pockets(880, 200, false) + collar(cloth, 14)
}

const poloFront = (cloth: Cloth) =>
  placket(cloth, 322, 620, [372, 470, 568]) +
  stroke('M576 620H624', tone(cloth.base, -0.2), 4, 0.5) +
  collar({ ...cloth, material: 'Rib', base: tone(cloth.base, -0.02) }, -6)

const shirt = { neck: NECK, labelAt: 240, isKnit: false }
const knit = { ...KNIT, hem: HEM, neck: NECK, labelAt: 240, isKnit: true }
const CUTS: Record<string, Cut> = {
  Shirt: { ...LONG, ...shirt, body: TAILED, sewn: shirtFront },
  Overshirt: { ...LONG, ...shirt, body: STRAIGHT, sewn: overshirtFront },
  Polo: { ...SHORT, ...shirt, body: STRAIGHT, sewn: poloFront },
  'T-Shirt': { ...SHORT, ...shirt, body: STRAIGHT, sewn: (cloth) => crew(cloth, 30) },
  Sweater: { ...knit, body: JUMPER, sewn: (cloth) => crew(cloth, 42) },
  Cardigan: { ...knit, body: JUMPER, sewn: cardiganFront },
  Turtleneck: { ...knit, body: JUMPER, sewn: turtle },
}

function sleeves(cloth: Cloth, { sleeve, cuff, angle, isKnit, body }: Cut): string {
  const end = (d: string, which: number) => (isKnit ? ribbed(cloth, d, which * angle) : piece(cloth, d, { angle: which * angle }, 0.8))
  const isLong = angle > -20
  const creases = (which: 1 | -1) => {
    const at = (x: number, y: number): [number, number] => [600 + which * x, y]
    return isLong
      ? fold(cloth, at(268, 480), at(300, 660), at(356, 900), 15) +
          fold(cloth, at(352, 664), at(330, 694), at(284, 704), 10) +
          fold(cloth, at(374, 770), at(350, 792), at(306, 796), 9)
      : fold(cloth, at(262, 440), at(296, 500), at(310, 580), 13)
  }
  return (
    both(sleeve, (d, which) => piece(cloth, d, { angle: which * angle }, 1) + creases(which)) +
    both(
      cuff,
      (d, which) =>
        placed('translate(0 -5)', shape(d, tone(cloth.base, -0.3), 0.3)) + end(d, which) + stroke(d, tone(cloth.base, -0.2), 2.5, 0.35),
    ) +
    placed('translate(7 4)', shape(whole(body), tone(cloth.base, -0.34), 0.4))
  )
}

function bodyOf(cloth: Cloth, { body, hem, sewn, isKnit, neck: opening, labelAt }: Cut, isHung: boolean): string {
  const outline = whole(body)
  const folds =
    fold(cloth, [356, 612], [420, 672], [480, 690], 15) +
    fold(cloth, [844, 612], [790, 680], [730, 712], 15) +
    fold(cloth, [436, 800], [412, 930], [448, 1090], 18) +
    fold(cloth, [768, 760], [790, 920], [748, 1100], 20) +
    fold(cloth, [520, 560], [504, 740], [534, 960], 13, 0.6) +
    fold(cloth, [660, 720], [682, 880], [652, 1050], 13, 0.6)
  const foot = hem
    ? ribbed(cloth, whole(hem)) +
      stroke(side('M-267 1072C-178 1090 -90 1094 0 1094C90 1094 178 1090 267 1072', 1), tone(cloth.base, -0.28), 4, 0.45)
    : stroke(outline, tone(cloth.base, -0.2), 2, 0.35)
  const armhole = both('M245 345C232 420 230 520 252 628', (d) => (isKnit ? stroke(d, tone(cloth.base, -0.2), 5, 0.4) : seam(cloth, d, 4)))
  return neck(cloth, opening, labelAt, isHung && !isKnit) + piece(cloth, outline) + folds + armhole + foot + sewn(cloth)
}

/** The hook of a wooden hanger on a brass peg. */
function hook(wall: string): string {
  const wire = 'M600 262V196C600 178 626 176 632 154C638 126 616 108 596 112C580 116 572 128 572 142'
  const peg = (x: number, y: number, r: number, colour: string, opacity = 1) =>
    `<circle cx="${x}" cy="${y}" r="${r}" fill="${colour}" opacity="${opacity}"/>`
  return (
    placed('translate(14 18)', stroke(wire, tone(wall, -0.35), 9, 0.3) + peg(600, 120, 20, tone(wall, -0.35), 0.3)) +
    peg(600, 118, 20, '#b98a3f') +
    peg(598, 115, 17, '#d9b062') +
    peg(592, 108, 7, '#f6e2b0') +
    stroke(wire, '#8d7b62', 9) +
    stroke(wire, '#dcc9a4', 3, 0.9)
  )
}

function laidOut(drawing: Drawing, cloth: Cloth, cut: Cut, look: Look): string {
  const backdrop = backdropFor(cloth.base, look.variation)
  const silhouette = [
    whole(cut.body),
    side(cut.sleeve, 1),
    side(cut.sleeve, -1),
    side(cut.cuff, 1),
    side(cut.cuff, -1),
    cut.hem ? whole(cut.hem) : '',
  ].join('')
  const garment =
    thrown(silhouette, backdrop, cut.isKnit ? 20 : 30) +
    (cut.isKnit ? '' : hook(backdrop.wall)) +
    sleeves(cloth, cut) +
    bodyOf(cloth, cut, true)
  return surface(drawing, backdrop, look.variation) + placed(`translate(0 ${cut.isKnit ? 46 : 62})`, garment)
}

const COMPANIONS = ['#e9dfcd', '#b9674a', '#8a9a7b', '#3c4a66', '#d9a94f', '#a9b8c4']

/** Folded to a square, on another one. */
function folded(drawing: Drawing, cloth: Cloth, cut: Cut, look: Look): string {
  const backdrop = backdropFor(cloth.base, look.variation + 3)
  const outline = whole(`M0 262C60 262 120 270 150 290C200 312 260 326 292 350C306 380 306 800 300 1190C298 1226 280 1236 250 1238L0 1240`)
  const under: Cloth = { ...cloth, base: mix(COMPANIONS[Math.abs(look.variation) % COMPANIONS.length]!, cloth.base, 0.12), scale: 1 }
  const lower = box(296, 350, 600, 930, 34)
  const layers = [26, 13].map((down, at) => placed(`translate(0 ${down})`, shape(outline, tone(cloth.base, at ? -0.12 : -0.2)))).join('')
  const close = drawing.inside(outline + box(440, 100, 320, 260), placed('translate(-300 -142) scale(1.5)', bodyOf(cloth, cut, false)))
  const turn = drawing.linear([
    [0, tone(cloth.base, 0.1), 0.5],
    [0.05, tone(cloth.base, 0.1), 0],
    [0.9, tone(cloth.base, -0.3), 0],
    [1, tone(cloth.base, -0.3), 0.5],
  ])
  const foot = drawing.linear(
    [
      [0.93, tone(cloth.base, -0.3), 0],
      [1, tone(cloth.base, -0.3), 0.55],
    ],
    [0, 0],
    [0, 1],
  )
  const stack = placed('translate(-14 14) rotate(-7 600 800)', thrown(lower, backdrop, 24) + piece(under, lower) + shape(lower, foot, 0.6))
  return (
    surface(drawing, backdrop, look.variation + 1) +
    stack +
    thrown(outline, backdrop, 20) +
    layers +
    close +
    shape(outline, turn) +
    shape(outline, foot)
  )
}

const garment = (cut: Cut) => (look: Look) => {
  const drawing = new Drawing()
  const cloth: Cloth = { drawing, material: look.material, base: dyed(look.material, look.colour), scale: 1 }
  return drawing.svg(look.view === 0 ? laidOut(drawing, cloth, cut, look) : folded(drawing, cloth, cut, look))
}

/** Pictures of clothing, by the name of the thing. */
export const CLOTHING = Object.fromEntries(Object.entries(CUTS).map(([name, cut]) => [name, garment(cut)]))
