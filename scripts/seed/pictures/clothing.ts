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
  sleeve: 'M228 346C286 372 314 430 328 510L404 1000C370 1022 334 1030 300 1022L222 660C208 540 212 430 228 346Z',
  cuff: 'M398 962L408 1040C376 1058 336 1066 306 1060L292 984C330 990 366 984 398 962Z',
  angle: -10,
}
const SHORT = {
  sleeve: 'M224 346C300 376 356 452 398 566C362 600 300 622 246 628L220 590C206 520 210 420 224 346Z',
  cuff: 'M389 542L400 572C362 604 300 626 248 632L238 604C300 598 350 576 389 542Z',
  angle: -26,
}
const KNIT = {
  sleeve: 'M222 350C296 372 334 440 350 530L420 960C384 986 338 994 300 984L224 690C206 560 208 440 222 350Z',
  cuff: 'M416 946C420 990 424 1020 424 1046C392 1064 350 1070 316 1062C314 1034 308 1004 298 972C340 984 384 974 416 946Z',
  angle: -9,
}
const TAILED =
  'M0 330C36 326 66 306 88 274C136 304 190 322 234 348C220 430 214 530 226 620C220 800 234 1000 240 1150C238 1194 226 1204 200 1206C130 1210 70 1264 0 1264'
const STRAIGHT =
  'M0 330C36 326 66 306 88 274C136 304 190 322 234 348C220 430 214 530 228 620C226 800 234 1000 238 1214C160 1228 80 1232 0 1232'
const JUMPER =
  'M0 352C50 348 84 318 98 272C140 300 186 318 230 350C216 440 212 560 230 650C240 800 246 960 240 1124C160 1140 80 1144 0 1144'
const HEM = 'M0 1142C80 1142 160 1138 241 1120C242 1160 236 1196 230 1224C160 1240 80 1244 0 1244'
const NECK = 'M0 214C40 214 66 226 82 256C76 300 40 346 0 360'

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
  const gap = 'M0 330C26 330 60 300 74 268C70 420 62 700 76 1232C50 1238 20 1238 0 1238'
  const edge = 'M74 268C70 420 62 700 76 1228'
  const band = whole('M0 352C40 350 62 318 72 284C76 286 78 290 78 294C70 344 40 376 0 378')
  return (
    shape(whole(gap), tone(tee.base, -0.07)) +
    shape(whole(gap), cloth.drawing.linear([[0, '#5b4a3a', 0.55], [0.22, '#5b4a3a', 0.06], [0.8, '#5b4a3a', 0], [1, '#5b4a3a', 0.3]])) +
    ribbed(tee, band) + fold(tee, [606, 520], [622, 760], [596, 1100], 12, 0.7) +
    both(edge, (d) => seam(cloth, d, 5)) + [470, 640, 810, 980].map((y, at) => button(cloth, 686 - at * 1.5, y)).join('')
  )
}

function cardiganFront(cloth: Cloth): string {
  const { base, drawing } = cloth
  const gap = whole('M0 214C40 214 66 226 84 262C78 420 44 560 0 640')
  const band = 'M80 236C92 242 106 262 112 280C108 440 70 590 26 690L24 1240L-24 1240L-24 690C30 590 76 440 80 236Z'
  const inside = drawing.linear([[0, tone(base, -0.12)], [0.5, tone(base, -0.26)], [1, tone(base, -0.2)]], [0, 0], [0, 1])
  const dip = shape(gap, inside) + textured(drawing, gap, 'Merino', tone(base, -0.2), { scale: cloth.scale }, 0.5)
  return (
    dip + shape('M572 236h56v30h-56Z', '#f3ead9') +
    placed('translate(6 6)', shape(side(band, 1), tone(base, -0.34), 0.3)) +
    ribbed(cloth, side('M-80 236C-92 242 -106 262 -112 280C-108 440 -70 590 -26 690L20 700C-30 590 -76 440 -80 236Z', 1), 14) +
    ribbed(cloth, side(band, 1), 90) + stroke(side(band, 1), tone(base, -0.22), 3, 0.45) +
    [716, 826, 936, 1046, 1156, 1222].slice(0, 5).map((y) => button(cloth, 600, y, 14)).join('') +
    both('M74 930L190 930L190 952L74 952Z', (d) => ribbed(cloth, d)) +
    both('M74 954L190 954', (d) => stroke(d, tone(base, -0.3), 5, 0.4))
  )
}

function crew(cloth: Cloth, width = 34): string {
  const rim = `M0 ${392 - width}C48 ${390 - width} 72 318 84 262C92 266 100 272 ${78 + width} 276C104 340 66 392 0 394`
  return placed('translate(0 9)', shape(whole(rim), tone(cloth.base, -0.34), 0.28)) + ribbed(cloth, whole(rim)) + stroke(side('M0 394C66 392 104 340 110 278', 1), tone(cloth.base, -0.2), 2.5, 0.5)
}

function turtle(cloth: Cloth): string {
  const tube = whole('M0 168C44 168 78 172 90 182C88 230 92 268 104 296C70 324 30 330 0 330')
  const turned = whole('M0 160C50 160 84 166 96 176C104 226 108 252 110 270C76 298 34 304 0 304')
  const mouth = whole('M0 158C50 158 84 164 96 176C84 190 48 196 0 196')
  return (
    placed('translate(2 14)', shape(tube, tone(cloth.base, -0.34), 0.35)) + ribbed(cloth, tube) +
    placed('translate(0 10)', shape(turned, tone(cloth.base, -0.34), 0.4)) + ribbed(cloth, turned) +
    shape(mouth, tone(cloth.base, -0.22)) + stroke(side('M-96 176C-84 192 -48 198 0 198C48 198 84 192 96 176', 1), tone(cloth.base, 0.12), 4, 0.6)
  )
}

const shirtFront = (cloth: Cloth) =>
  placket(cloth, 322, 1262, [352, 500, 650, 800, 950, 1100]) + pocket(cloth, 668, 520, 118, 138) + collar(cloth)

function overshirtFront(cloth: Cloth): string {
  const pockets = (y: number, height: number, hasFlap: boolean) => pocket(cloth, 438 - 12, y, 104, height, hasFlap) + pocket(cloth, 670, y, 104, height, hasFlap)
  return openFront(cloth) + pockets(520, 150, true) + pockets(930, 190, false) + collar(cloth, 14)
}

const poloFront = (cloth: Cloth) =>
  placket(cloth, 322, 620, [372, 470, 568]) + stroke('M576 620H624', tone(cloth.base, -0.2), 4, 0.5) +
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
      ? fold(cloth, at(250, 470), at(272, 660), at(330, 900), 15) + fold(cloth, at(318, 700), at(300, 730), at(258, 742), 10) + fold(cloth, at(338, 800), at(316, 822), at(284, 826), 9)
      : fold(cloth, at(244, 430), at(286, 500), at(300, 590), 13)
  }
  return (
    both(sleeve, (d, which) => piece(cloth, d, { angle: which * angle }, 1) + creases(which)) +
    both(cuff, (d, which) => placed('translate(0 -5)', shape(d, tone(cloth.base, -0.3), 0.3)) + end(d, which) + stroke(d, tone(cloth.base, -0.2), 2.5, 0.35)) +
    placed('translate(7 4)', shape(whole(body), tone(cloth.base, -0.34), 0.4))
  )
}

function bodyOf(cloth: Cloth, { body, hem, sewn, isKnit, neck: opening, labelAt }: Cut): string {
  const outline = whole(body)
  const folds =
    fold(cloth, [424, 610], [470, 660], [506, 680], 15) + fold(cloth, [776, 610], [738, 676], [700, 700], 15) +
    fold(cloth, [470, 820], [452, 980], [480, 1150], 18) + fold(cloth, [744, 780], [762, 960], [730, 1160], 20) +
    fold(cloth, [530, 560], [516, 760], [540, 1000], 13, 0.6) + fold(cloth, [656, 720], [674, 900], [650, 1090], 13, 0.6)
  const foot = hem
    ? ribbed(cloth, whole(hem)) + stroke(side('M-241 1120C-160 1138 -80 1142 0 1142C80 1142 160 1138 241 1120', 1), tone(cloth.base, -0.28), 4, 0.45)
    : stroke(outline, tone(cloth.base, -0.2), 2, 0.35)
  const armhole = both('M232 352C216 440 212 540 226 620', (d) => (isKnit ? stroke(d, tone(cloth.base, -0.2), 5, 0.4) : seam(cloth, d, 4)))
  return neck(cloth, opening, labelAt) + piece(cloth, outline) + folds + armhole + foot + sewn(cloth)
}

function hanger(drawing: Drawing, wall: string): { before: string; behind: string } {
  const wood = drawing.linear([[0, '#e0b887'], [1, '#a8774a']], [0, 0], [0, 1])
  const hook = 'M600 262V196C600 178 626 176 632 154C638 126 616 108 596 112C580 116 572 128 572 142'
  const peg = `<circle cx="604" cy="126" r="19" fill="${tone(wall, -0.42)}" opacity=".35"/><circle cx="598" cy="116" r="19" fill="#c79a4e"/><circle cx="593" cy="110" r="10" fill="#ecd096"/>`
  return {
    before: '',
    behind:
      placed('translate(12 16)', stroke(hook, tone(wall, -0.35), 9, 0.3)) + peg + stroke(hook, '#8d7b62', 9) + stroke(hook, '#d8c49c', 3, 0.9) +
      shape('M600 236C680 252 770 300 826 346C830 360 816 366 806 360C740 322 670 290 600 280C530 290 460 322 394 360C384 366 370 360 374 346C430 300 520 252 600 236Z', wood),
  }
}

function laidOut(drawing: Drawing, cloth: Cloth, cut: Cut, look: Look): string {
  const backdrop = backdropFor(cloth.base, look.variation)
  const silhouette = [whole(cut.body), side(cut.sleeve, 1), side(cut.sleeve, -1), side(cut.cuff, 1), side(cut.cuff, -1), cut.hem ? whole(cut.hem) : ''].join('')
  const hung = cut.isKnit ? '' : hanger(drawing, backdrop.wall).behind
  const garment = thrown(drawing, silhouette, backdrop, cut.isKnit ? 20 : 30) + hung + sleeves(cloth, cut) + bodyOf(cloth, cut)
  return surface(drawing, backdrop, look.variation) + placed(cut.isKnit ? 'translate(-42 20) scale(1.07)' : 'translate(-36 40) scale(1.06)', garment)
}

const COMPANIONS = ['#e9dfcd', '#b9674a', '#8a9a7b', '#3c4a66', '#d9a94f', '#a9b8c4']

/** Folded to a square, on another one. */
function folded(drawing: Drawing, cloth: Cloth, cut: Cut, look: Look): string {
  const backdrop = backdropFor(cloth.base, look.variation + 3)
  const front = 'M300 1240L300 360C250 340 180 320 120 270L0 270'
  const outline = whole(`M0 262C60 262 120 270 150 290C200 312 260 326 292 350C306 380 306 800 300 1190C298 1226 280 1236 250 1238L0 1240`)
  const under: Cloth = { ...cloth, base: mix(COMPANIONS[Math.abs(look.variation) % COMPANIONS.length]!, cloth.base, 0.12), scale: 1.35 }
  const lower = box(300, 330, 600, 940, 34)
  void front
  const layers = [26, 13].map((down, at) => placed(`translate(0 ${down})`, shape(outline, tone(cloth.base, at ? -0.12 : -0.2)))).join('')
  const close = drawing.inside(outline + box(440, 100, 320, 260), placed('translate(-264 -128) scale(1.44)', bodyOf(cloth, cut)))
  const turn = drawing.linear([[0, tone(cloth.base, 0.1), 0.5], [0.05, tone(cloth.base, 0.1), 0], [0.9, tone(cloth.base, -0.3), 0], [1, tone(cloth.base, -0.3), 0.5]])
  const foot = drawing.linear([[0.93, tone(cloth.base, -0.3), 0], [1, tone(cloth.base, -0.3), 0.55]], [0, 0], [0, 1])
  const stack = placed('rotate(-4 600 800)', thrown(drawing, lower, backdrop, 24) + piece(under, lower) + shape(lower, foot, 0.6))
  return surface(drawing, backdrop, look.variation + 1) + stack + thrown(drawing, outline, backdrop, 20) + layers + close + shape(outline, turn) + shape(outline, foot)
}

const garment = (cut: Cut) => (look: Look) => {
  const drawing = new Drawing()
  const cloth: Cloth = { drawing, material: look.material, base: dyed(look.material, look.colour), scale: look.view === 0 ? 1 : 1.05 }
  return drawing.svg(look.view === 0 ? laidOut(drawing, cloth, cut, look) : folded(drawing, cloth, cut, look))
}

/** Pictures of clothing, by the name of the thing. */
export const CLOTHING = Object.fromEntries(Object.entries(CUTS).map(([name, cut]) => [name, garment(cut)]))
