/** Home, for the living room: table lamp, throw, vase and side table. */
import { piece } from './cloth.ts'
import { blooms, books, branches, cup, grasses } from './companions.ts'
import { box, type Drawing, oval, placed, shape, stroke, whole } from './drawing.ts'
import { difference, lightness, mix, tone } from './palette.ts'
import { contact, halo, pool } from './scene.ts'
import { as, body, gleam, inRoom, mouth, ovalOutline, rod, solidOf, turned, type Solid, type Still } from './solids.ts'
import { blanket } from './throw.ts'

const LAMP_FEET = [
  'M30 800C60 812 64 840 76 880C150 940 190 1000 190 1080C190 1160 150 1214 96 1236C60 1244 0 1244 0 1244',
  'M26 800C34 860 60 900 60 930C60 960 34 980 34 1010C34 1090 64 1150 150 1200C162 1216 160 1230 150 1236C90 1248 0 1248 0 1248',
  'M40 800C130 812 150 830 150 870C150 920 90 960 90 1020C90 1080 170 1120 170 1180C170 1220 150 1236 120 1240C80 1246 0 1246 0 1246',
]

const dressed = (solid: Solid): Solid => (solid.kind === 'felt' ? as(solid, 'stone', mix('#efe5d3', solid.base, 0.6), 'Stoneware') : solid)

/** A lampshade with the light on: of linen, or knitted. */
function lampshade({ drawing, solid }: Still): string {
  const outline = 'M428 330L326 716C390 752 510 766 600 766C690 766 810 752 874 716L772 330C720 350 480 350 428 330Z'
  const lit = drawing.radial(
    [
      [0, '#fffbe9'],
      [0.45, '#fdecc0'],
      [1, '#e6cb9b'],
    ],
    [0.5, 0.72],
    0.75,
  )
  const through = drawing.radial(
    [
      [0, '#ffe3a2', 0.75],
      [0.6, '#ffd98c', 0.3],
      [1, '#ffd98c', 0],
    ],
    [0.5, 0.75],
    0.65,
  )
  const round = drawing.linear([
    [0, '#7c4c1e', 0.24],
    [0.25, '#7c4c1e', 0],
    [0.75, '#7c4c1e', 0],
    [1, '#7c4c1e', 0.3],
  ])
  const cloth =
    solid.kind === 'felt'
      ? piece({ drawing, material: 'Wool', base: solid.base, scale: 1 }, outline) + shape(outline, through)
      : shape(outline, lit) + shape(outline, weaveLines(drawing), 0.5)
  return (
    cloth +
    shape(outline, round) +
    oval(600, 330, 172, 15, '#fff6d8') +
    oval(600, 332, 160, 11, '#e6c98f') +
    stroke('M326 716C390 752 510 766 600 766C690 766 810 752 874 716', '#c9a469', 7, 0.7) +
    stroke('M428 330C480 350 720 350 772 330', '#c9a469', 5, 0.5)
  )
}

function lampAt(still: Still): string {
  const { drawing, backdrop, solid, look } = still
  const foot = dressed(solid)
  const half = LAMP_FEET[Math.abs(look.variation) % LAMP_FEET.length]!
  const warm = drawing.linear(
    [
      [0, '#ffe9b4', 0.5],
      [0.3, '#ffe9b4', 0],
    ],
    [0, 0],
    [0, 1],
  )
  return (
    halo(drawing, 600, 620, 640, 620, '#ffe5a8', 0.85) +
    halo(drawing, 600, 1250, 520, 90, '#fff0c4', 0.6) +
    contact(drawing, 600, 1232, 170, backdrop.floor) +
    rod('#c49a50', 'M600 730V810', 22, 0.9) +
    turned(foot, half) +
    drawing.inside(whole(half), gleam(foot, [540, 940], [470, 1060], [520, 1180], 14)) +
    shape(whole(half), warm) +
    lampshade(still)
  )
}

const weaveLines = (drawing: Drawing) =>
  drawing.tile(8, 10, stroke('M0 2H8', '#c79b5c', 1.4, 0.35) + stroke('M2 0V10', '#fffaf0', 1.4, 0.4))

function lamp(still: Still): string {
  if (still.look.view === 0) return lampAt(still)
  const { drawing, backdrop, solid } = still
  const colours = [tone(mix(solid.base, '#3f4a5c', 0.6), -0.02), '#b9694a', '#d9c7a0']
  return (
    placed('translate(-90 -40)', lampAt(still)) + contact(drawing, 880, 1322, 170, backdrop.floor) + books(drawing, 880, 1330, 330, colours)
  )
}

const VASES = [
  { half: 'M92 720C84 760 70 780 74 820C84 880 230 920 230 1050C230 1160 170 1220 110 1236C70 1244 0 1244 0 1244', top: 720, rx: 92 },
  { half: 'M60 640C54 720 62 780 92 840C160 930 190 990 176 1080C164 1160 130 1216 100 1236C60 1244 0 1244 0 1244', top: 640, rx: 60 },
  { half: 'M176 760C180 820 214 880 214 970C214 1100 170 1200 130 1236C80 1246 0 1246 0 1246', top: 760, rx: 176 },
]

function vaseAt({ drawing, backdrop, solid }: Still, which: number, plant: string): string {
  const { half, top, rx } = VASES[Math.abs(which) % VASES.length]!
  const clay = solid.kind === 'felt' ? as(solid, 'stone', mix('#efe5d3', solid.base, 0.2), 'Stoneware') : solid
  const isGlass = clay.kind === 'glass'
  const outline = whole(half)
  const water = drawing.inside(
    outline,
    shape(box(300, 1000, 600, 260), mix('#8fc0c4', solid.base, 0.4), 0.35) +
      oval(600, 1000, 226, 30, '#e9f5f2', 0.5) +
      stroke('M600 740Q590 1000 560 1200M600 740Q610 1000 650 1190', '#66744c', 7, 0.7),
  )
  const dress =
    solid.kind === 'felt'
      ? drawing.inside(
          outline,
          piece({ drawing, material: 'Wool', base: solid.base, scale: 1 }, whole('M0 990C120 990 200 980 260 960L260 1260L0 1260'), {}, 1),
        )
      : ''
  return (
    contact(drawing, 600, 1230, 160, backdrop.floor) +
    mouth(clay, 600, top, rx, rx * 0.2, 10) +
    plant +
    (isGlass ? water : '') +
    turned(clay, half) +
    dress +
    shape(`M${600 - rx} ${top}A${rx} ${rx * 0.2} 0 0 0 ${600 + rx} ${top}A${rx} ${rx * 0.2} 0 0 1 ${600 - rx} ${top}Z`, clay.base) +
    gleam(clay, [600 - rx * 0.9, top + 240], [440, top + 360], [486, 1170], 13) +
    gleam(clay, [772, top + 320], [786, 1050], [748, 1150], 5) +
    stroke(`M${600 - rx} ${top}A${rx} ${rx * 0.2} 0 0 0 ${600 + rx} ${top}`, tone(clay.base, 0.16), 6, 0.8)
  )
}

/** A vase's opening is drawn before the plant and its front after it: the front begins at the lower edge of the opening. */
function vase(still: Still): string {
  const { look, solid } = still
  const at = Math.abs(look.variation)
  const { top } = VASES[at % VASES.length]!
  const leafy = mix('#76854e', solid.base, 0.08)
  const plants = [
    branches(600, top + 10, leafy),
    grasses(600, top + 10, difference(still.backdrop.wall, '#dcbf8f') < 0.2 ? '#a5623d' : '#dcbf8f'),
    blooms(600, top + 10, '#f3e9d6'),
  ]
  if (look.view === 0) return placed('translate(0 10)', vaseAt(still, at, plants[(at >> 1) % 3]!))
  const small = {
    ...still,
    solid: solidOf(still.drawing, 'Stoneware', mix(solid.base, '#efe5d3', lightness(solid.base) > 0.7 ? 0.1 : 0.65)),
  }
  if (lightness(solid.base) > 0.7) small.solid = solidOf(still.drawing, 'Stoneware', '#b9694a')
  return (
    placed('translate(-130 0)', vaseAt(still, at, plants[((at >> 1) + 1) % 3]!)) +
    placed('translate(560 640) scale(.54)', vaseAt(small, at + 1, ''))
  )
}

/** What the legs of a table are of: wood stands on its own kind, glass on brass, metal on metal, and stone on oak. */
function legsOf(top: Solid): Solid {
  if (top.kind === 'wood' || top.kind === 'metal') return top
  return top.kind === 'glass' ? as(top, 'metal', '#b9924e') : as(top, 'wood', '#c4935f', 'Oak')
}

const TABLE_TOP = ovalOutline(600, 690, 350, 74)

function tableTop({ drawing, solid }: Still, top: Solid): string {
  const clear = top.kind === 'glass' ? 0.5 : 1
  const light = drawing.linear([
    [0, tone(top.base, 0.1), clear],
    [0.5, tone(top.base, 0.02), clear * 0.8],
    [1, tone(top.base, -0.06), clear],
  ])
  const lying = 'translate(600 690) scale(1 .25) rotate(90) translate(-600 -690)'
  const wood = top.kind === 'wood' ? placed(lying, body(top, ovalOutline(600, 690, 298, 350), { isFlat: true })) : ''
  const felt =
    solid.kind === 'felt'
      ? piece({ drawing, material: 'Wool', base: solid.base, scale: 1 }, TABLE_TOP) + stroke(TABLE_TOP, tone(solid.base, -0.2), 5, 0.4)
      : ''
  const daylight = drawing.linear([
    [0, '#fffaf0', 0.4],
    [0.45, '#fffaf0', 0],
    [1, '#20140c', 0.16],
  ])
  return (
    body(top, 'M250 690A350 74 0 0 0 950 690V726A350 74 0 0 1 250 726Z') +
    shape(TABLE_TOP, light) +
    wood +
    (top.kind === 'stone' ? body(top, TABLE_TOP, { isFlat: true }) : '') +
    felt +
    shape(TABLE_TOP, daylight) +
    stroke('M250 692A350 74 0 0 0 950 692', tone(top.base, 0.16), 4, 0.7) +
    gleam(top, [330, 680], [420, 640], [560, 630], 8)
  )
}

function tableAt(still: Still): string {
  const { drawing, backdrop, solid } = still
  const top = solid.kind === 'felt' ? as(solid, 'wood', '#d6a871', 'Oak') : solid
  const legs = legsOf(top)
  const leg = (d: string, dark: number) => body(legs, d) + shape(d, tone(legs.base, -0.4), dark)
  const foot = (x: number, y: number) => contact(drawing, x, y, 30, backdrop.floor)
  return (
    pool(drawing, 640, 1236, 380, 54, backdrop.floor) +
    foot(372, 1262) +
    foot(828, 1262) +
    foot(604, 1180) +
    leg('M584 740H624L616 1182Q604 1188 592 1182Z', 0.3) +
    shape(ovalOutline(600, 1010, 196, 34), tone(legs.base, -0.12)) +
    shape(ovalOutline(600, 1000, 196, 34), tone(legs.base, 0.02)) +
    leg('M370 730L418 736L388 1262Q372 1270 358 1262Z', 0) +
    leg('M830 730L782 736L812 1262Q828 1270 842 1262Z', 0.12) +
    shape('M360 738A350 74 0 0 0 840 738L826 790A350 74 0 0 1 374 790Z', tone(legs.base, -0.26), 0.45) +
    tableTop(still, top)
  )
}

function table(still: Still): string {
  const { drawing, solid, look } = still
  const x = placed('translate(0 20)', tableAt(still))
  if (look.view === 0) return x
  const floor = tone(solid.base, -0.1)
  const small = {
    ...still,
    solid: solidOf(drawing, 'Stoneware', lightness(solid.base) > 0.7 ? '#b9694a' : '#efe3cd'),
    backdrop: { ...still.backdrop, floor },
  }
  return (
    x +
    placed(
      'translate(222 156) scale(.46)',
      vaseAt(small, look.variation + 1, branches(600, [730, 650, 770][Math.abs(look.variation + 1) % 3]!, '#76854e')),
    ) +
    placed('translate(280 266) scale(.5)', cup(drawing, 880, 960, '#dccdb4', floor))
  )
}

/** Pictures of what is for the living room, by the name of the thing. */
export const LIVING = { 'Table Lamp': inRoom(lamp), Throw: blanket, Vase: inRoom(vase), 'Side Table': inRoom(table) }
