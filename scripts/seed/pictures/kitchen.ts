/** Home, for the kitchen: mug, serving bowl, kettle and cutting board. */
import { piece, type Cloth } from './cloth.ts'
import { books, cup, fruit } from './companions.ts'
import { box, leaf, oval, placed, shape, stroke, whole } from './drawing.ts'
import { lightness, mix, tone } from './palette.ts'
import { contact } from './scene.ts'
import { as, body, gleam, inRoom, mouth, ovalOutline, rod, turned, woodBeside, type Solid, type Still } from './solids.ts'

/** A felted thing is of stoneware, and dressed in wool. */
const shell = (solid: Solid): Solid => (solid.kind === 'felt' ? as(solid, 'stone', mix('#efe5d3', solid.base, 0.15), 'Stoneware') : solid)

const knitted = ({ drawing, base }: Solid, outline: string): string =>
  shape(outline, tone(base, -0.35), 0.4).replace('<path', '<path transform="translate(0 7)"') +
  piece({ drawing, material: 'Wool', base, scale: 1 } satisfies Cloth, outline, {}, 1)

function oneMug({ drawing, backdrop, solid }: Still, x = 600): string {
  const clay = shell(solid)
  const [top, foot] = [766, 1236]
  const isGlass = clay.kind === 'glass'
  const tea = isGlass
    ? shape(
        whole(`M176 ${top + 110}C176 1010 172 1100 162 1150C150 1190 100 1208 0 1210`, x),
        drawing.linear([
          [0, '#a4541f', 0.9],
          [0.3, '#cf7f35', 0.8],
          [1, '#8c4118', 0.95],
        ]),
      ) + oval(x, top + 110, 176, 34, '#d98f48', 0.9)
    : ''
  const handle = `M${x + 182} 862C${x + 300} 818 ${x + 348} 900 ${x + 330} 984C${x + 312} 1070 ${x + 240} 1112 ${x + 168} 1104`
  return (
    contact(drawing, x, foot - 12, 190, backdrop.floor) +
    rod(clay.base, handle, 44, clay.kind === 'metal' ? 0.9 : 0.45) +
    tea +
    turned(clay, `M194 ${top}C196 900 194 1060 182 1140C172 1196 120 ${foot} 0 ${foot + 2}`, x) +
    (solid.kind === 'felt'
      ? knitted(solid, whole('M0 892C80 890 160 874 196 852C196 930 194 1010 190 1086C150 1116 60 1128 0 1128', x))
      : '') +
    mouth(clay, x, top, 194, 40, 13) +
    (isGlass
      ? ''
      : drawing.inside(
          ovalOutline(x, top + 2, 180, 34),
          oval(x, top + 22, 176, 34, '#4b2d1c') + oval(x - 30, top + 16, 90, 13, '#8a5836', 0.55),
        )) +
    gleam(clay, [x - 138, 850], [x - 152, 980], [x - 128, 1120], 15) +
    gleam(clay, [x + 158, 860], [x + 166, 960], [x + 154, 1060], 5)
  )
}

function mug(still: Still): string {
  if (still.look.view === 0) return placed('translate(-215 -270) scale(1.25)', oneMug(still))
  const { drawing, backdrop, solid } = still
  const books2 = books(drawing, 590, 1262, 620, [mix(backdrop.wall, '#3f4a5c', 0.75), mix(solid.base, '#b4633f', 0.6), '#e9dcc4'])
  return (
    contact(drawing, 590, 1256, 300, backdrop.floor) +
    books2 +
    placed('translate(-60 -158)', oneMug({ ...still, backdrop: { ...backdrop, floor: '#a89a80' } }))
  )
}

function bowl({ drawing, backdrop, solid, look }: Still): string {
  const clay = shell(solid)
  const [top, foot] = [886, 1250]
  const colours = [
    ['#e7a83f', '#dd8a3c', '#e9b650'],
    ['#a9b35a', '#c7c26b', '#8f9f4b'],
    ['#c9523f', '#d9724d', '#b8433a'],
  ][Math.abs(look.variation) % 3]!
  const pile = [
    fruit(drawing, 520, 800, 112, colours[0]!),
    fruit(drawing, 760, 838, 100, colours[1]!),
    fruit(drawing, 640, 840, 108, colours[2]!),
    fruit(drawing, 412, 858, 88, colours[1]!),
  ].join('')
  const full = drawing.inside(box(0, 0, 1200, top) + ovalOutline(600, top + 3, 336, 70), pile)
  const belt = knitted(solid, whole('M0 1016C140 1014 270 990 343 950C330 1010 300 1066 272 1096C200 1126 80 1138 0 1138'))
  return (
    contact(drawing, 600, foot - 14, 240, backdrop.floor) +
    contact(drawing, 600, foot - 12, 150, backdrop.floor) +
    turned(clay, `M350 ${top}C346 1040 250 1170 150 1204L142 ${foot - 14}C110 ${foot + 2} 40 ${foot + 4} 0 ${foot + 4}`) +
    (solid.kind === 'felt' ? belt : '') +
    stroke(`M452 1203Q600 1232 748 1203`, tone(clay.base, -0.24), 5, 0.4) +
    mouth(clay, 600, top, 350, 80, 15) +
    (look.view === 1 ? full : '') +
    gleam(clay, [312, 970], [330, 1080], [410, 1150], 14) +
    gleam(clay, [872, 980], [852, 1060], [800, 1130], 5)
  )
}

/** What a kettle is made of: wood and wool make its handle, and enamel the rest. */
function kettleParts(solid: Solid): { vessel: Solid; grip: string } {
  if (solid.kind === 'wood') return { vessel: as(solid, 'enamel', lightness(solid.base) > 0.6 ? '#e9e0cf' : '#3f4347'), grip: solid.base }
  if (solid.kind === 'felt') return { vessel: as(solid, 'enamel'), grip: tone(solid.base, 0.02) }
  return { vessel: solid, grip: solid.kind === 'metal' ? '#5a3a28' : woodBeside(solid).base }
}

function kettleAt({ drawing, backdrop, solid }: Still): string {
  const { vessel, grip } = kettleParts(solid)
  const spout = 'M792 1060C884 1030 880 900 948 812L1010 824C966 930 978 1092 806 1164Z'
  const handle = 'M404 800C380 560 470 470 600 470C730 470 820 560 796 800'
  const water =
    vessel.kind === 'glass'
      ? shape(whole('M290 1000C284 1130 236 1200 150 1214C100 1220 0 1222 0 1222L0 1000'), '#c98a3f', 0.55) +
        oval(600, 1000, 290, 44, '#e0aa62', 0.5)
      : ''
  return (
    contact(drawing, 600, 1226, 236, backdrop.floor) +
    stroke(handle, tone(vessel.base, -0.2), 18) +
    body(vessel, spout) +
    gleam(vessel, [900, 1010], [920, 930], [968, 850], 6) +
    oval(979, 818, 32, 10, tone(vessel.base, -0.26)) +
    water +
    turned(vessel, 'M146 770C260 790 306 910 302 1020C296 1140 240 1214 156 1230C100 1242 0 1242 0 1242') +
    oval(600, 772, 152, 30, tone(vessel.base, -0.2), 0.6) +
    turned(vessel, 'M34 706C100 716 140 740 150 768C110 796 40 798 0 798') +
    stroke('M450 770Q600 812 750 770', tone(vessel.base, -0.26), 4, 0.5) +
    oval(600, 706, 34, 9, tone(vessel.base, -0.2)) +
    turned(as(solid, 'wood', grip), 'M22 640C44 646 44 676 24 704C16 710 0 710 0 710') +
    shape(box(384, 780, 40, 52, 12), tone(vessel.base, -0.14)) +
    shape(box(776, 780, 40, 52, 12), tone(vessel.base, -0.14)) +
    rod(grip, 'M448 576C480 500 530 470 600 470C670 470 720 500 752 576', 46, 0.45) +
    (solid.kind === 'felt'
      ? drawing.inside(
          box(420, 430, 360, 170),
          stroke('M448 576C480 500 530 470 600 470C670 470 720 500 752 576', tone(grip, -0.16), 46, 0.5, ' stroke-dasharray="5 9"'),
        )
      : '') +
    gleam(vessel, [352, 920], [330, 1030], [382, 1150], 20) +
    gleam(vessel, [420, 850], [396, 868], [378, 900], 9) +
    gleam(vessel, [862, 930], [880, 1020], [850, 1110], 6)
  )
}

function kettle(still: Still): string {
  if (still.look.view === 0) return placed('translate(-46 10)', kettleAt(still))
  return (
    placed('translate(-110 -30)', kettleAt(still)) +
    cup(still.drawing, 900, 1330, mix(still.solid.base, '#efe5d3', 0.7), still.backdrop.floor)
  )
}

function board({ drawing, backdrop, solid, look }: Still): string {
  const slab = solid.kind === 'felt' ? as(solid, 'wood', mix('#d6a871', solid.base, 0.3), 'Oak') : solid
  const face = `M396 560Q396 512 444 508L500 502Q540 498 544 456L548 356Q550 300 600 300Q650 300 652 356L656 456Q660 498 700 502L756 508Q804 512 804 560V1190Q804 1238 756 1238H444Q396 1238 396 1190Z`
  const hole = ovalOutline(600, 366, 24, 24)
  const stripe = lightness(slab.base) > 0.6 ? '#8a5a3a' : '#d9ad78'
  const inlay =
    slab.kind === 'wood'
      ? drawing.inside(face, shape(box(690, 400, 26, 860), stripe, 0.85) + shape(box(724, 400, 7, 860), stripe, 0.7))
      : ''
  const loop = solid.kind === 'felt' ? tone(solid.base, -0.04) : '#8a5a36'
  const shadow = drawing.linear([
    [0, tone(backdrop.wall, -0.36), 0.5],
    [1, tone(backdrop.wall, -0.36), 0.05],
  ])
  const companion =
    fruit(drawing, 340, 1220, 98, '#e3b23f') +
    fruit(drawing, 480, 1262, 92, '#d9942f') +
    placed('translate(0 0)', shape(leaf([230, 1300], [300, 1270], [380, 1330], 18), '#76854e'))
  return (
    contact(drawing, 604, 1232, 212, backdrop.floor) +
    placed(
      'translate(40 6) skewX(-3)',
      drawing.inside(box(0, 0, 1400, 1232), shape(face, shadow).replace('<path', '<path transform="translate(70 0)"')),
    ) +
    placed('translate(13 0)', shape(face, tone(slab.base, -0.2))) +
    body(slab, face, { isFlat: true }) +
    inlay +
    shape(
      face,
      drawing.linear(
        [
          [0, '#fff7e6', 0.28],
          [0.4, '#fff7e6', 0],
          [0.7, '#2a1a10', 0],
          [1, '#2a1a10', 0.22],
        ],
        [0, 0],
        [1, 1],
      ),
    ) +
    stroke(face, tone(slab.base, 0.14), 4, 0.55) +
    shape(hole, tone(backdrop.wall, -0.22)) +
    stroke('M578 356A24 24 0 0 1 622 356', tone(slab.base, -0.32), 6, 0.6) +
    rod(loop, 'M598 366C566 300 560 216 596 196C634 180 640 290 606 366', 12, 0.4) +
    (slab.kind === 'metal' || slab.kind === 'glass'
      ? shape('M396 900L804 560V700L396 1060Z', '#fffaf0', 0.25) + shape('M396 1090L804 740V770L396 1120Z', '#fffaf0', 0.25)
      : '') +
    (look.view === 1 ? contact(drawing, 400, 1310, 150, backdrop.floor) + companion : '')
  )
}

/** Pictures of what is for the kitchen, by the name of the thing. */
export const KITCHEN = { Mug: inRoom(mug), 'Serving Bowl': inRoom(bowl), Kettle: inRoom(kettle), 'Cutting Board': inRoom(board) }
