/** Paper, bound: notebook, sketchbook and planner, closed and open. */
import { box, oval, placed, shape, stroke } from './drawing.ts'
import { lightness, mix, tone } from './palette.ts'
import { bound, onDesk, pencil, pressed, sheet, sprig, wired, type Desk } from './paper.ts'
import { thrown } from './scene.ts'

const ribbon = (colour: string, x: number, y: number) =>
  shape(`M${x} ${y}h22v96l-11 -16l-11 16Z`, tone(colour, -0.1)) + shape(`M${x} ${y}h8v92l-8 4Z`, tone(colour, 0.08), 0.6)

const contrast = (desk: Desk) => (lightness(desk.cover) > 0.62 ? '#3b3a3c' : '#eadfc8')

function elastic(colour: string, x: number, y: number, height: number): string {
  return (
    shape(box(x + 5, y, 22, height), '#1d1a18', 0.25) +
    shape(box(x, y - 2, 22, height + 4, 3), colour) +
    shape(box(x + 3, y - 2, 5, height + 4), tone(colour, 0.16), 0.7)
  )
}

/** The mark on a cover: a sprig pressed into it, a label, or nothing but the cover. */
function mark(desk: Desk, cx: number, cy: number): string {
  const { look, cover, accent } = desk
  if (look.material === 'Letterpress')
    return pressed(cover, (colour) => sprig([cx, cy + 150], 330, colour) + stroke(box(cx - 170, cy - 270, 340, 480, 10), colour, 5))
  if (look.material === 'Cloth-Bound')
    return (
      shape(box(cx - 116, cy - 66, 232, 132, 4), tone(cover, -0.2), 0.5).replace('<path', '<path transform="translate(3 4)"') +
      shape(box(cx - 116, cy - 66, 232, 132, 4), '#f4ecdc') +
      stroke(box(cx - 102, cy - 52, 204, 104), accent, 3, 0.8) +
      stroke(`M${cx - 66} ${cy + 8}h132`, accent, 3, 0.5)
    )
  if (look.material === 'Recycled') return sprig([cx, cy + 90], 210, mix(accent, '#3a3128', 0.35), 0.85)
  if (look.material === 'Laid') return oval(cx, cy, 110, 110, tone(cover, 0.14), 0.8) + sprig([cx, cy + 70], 130, tone(cover, -0.2), 0.8)
  return [0, 1, 2].map((at) => stroke(`M${cx - 90} ${cy - 30 + at * 30}h${180 - at * 50}`, tone(cover, 0.26), 6, 0.8)).join('')
}

/** Two open pages, the gutter at x 600, with what is on them. */
function spread(desk: Desk, left: string, right: string): string {
  const { drawing, backdrop, paper, cover } = desk
  const page = (which: number) =>
    `M600 420C${600 + which * 120} 396 ${600 + which * 300} 396 ${600 + which * 470} 408V1072C${600 + which * 300} 1058 ${600 + which * 120} 1058 600 1084Z`
  const board = 'M112 400Q112 390 122 390H1078Q1088 390 1088 400V1092Q1088 1102 1078 1102H122Q112 1102 112 1092Z'
  const gutter = drawing.linear([
    [0, '#3a2a1c', 0],
    [0.3, '#3a2a1c', 0],
    [0.46, '#3a2a1c', 0.12],
    [0.5, '#3a2a1c', 0.42],
    [0.55, '#3a2a1c', 0.08],
    [0.7, '#fff', 0],
  ])
  const stack = [10, 5]
    .map((down) =>
      placed(
        `translate(0 ${down})`,
        shape(page(-1), tone(paper, -0.12)) + shape(page(1), tone(paper, -0.16)) + stroke(page(1), tone(paper, -0.26), 1.5, 0.5),
      ),
    )
    .join('')
  return (
    thrown(board, backdrop, 26) +
    shape(board, cover) +
    stack +
    sheet(desk, page(-1)) +
    sheet(desk, page(1)) +
    drawing.inside(page(-1), left) +
    drawing.inside(page(1), right) +
    shape(page(-1) + page(1), gutter)
  )
}

const rules = (x: number, y: number, count: number, colour: string) =>
  Array.from({ length: count }, (_, at) => stroke(`M${x} ${y + at * 44}h372`, colour, 2.2, 0.5)).join('')

/** Lines of writing, from so far off that they say nothing. */
function scribbles(x: number, y: number, lengths: number[], colour: string): string {
  const words = lengths.map((length, row) => {
    let at = 0
    let line = ''
    for (let word = row; at < length; word++) {
      const long = 26 + ((word * 23) % 48)
      line += `M${x + at} ${y - 4 + row * 44}h${long}`
      at += long + 20
    }
    return line
  })
  return stroke(words.join(''), colour, 7, 0.5)
}

function notebook(desk: Desk): string {
  const { backdrop, accent, paper, look } = desk
  if (look.view === 0)
    return placed(
      'rotate(-6 600 750)',
      ribbon(desk.look.material === 'Recycled' ? accent : contrast(desk), 480, 1170) +
        bound(desk, 290, 290, 620, 900) +
        mark(desk, 590, 700) +
        elastic(contrast(desk), 826, 290, 914),
    )
  const lined = look.material === 'Dotted' ? '' : rules(166, 500, 12, tone(paper, -0.2)) + rules(662, 500, 12, tone(paper, -0.2))
  return (
    placed(
      'rotate(-4 600 750)',
      spread(desk, lined + scribbles(176, 490, [300, 340, 260, 330, 180], '#4a5064'), lined) +
        sprig([860, 960], 330, mix(accent, '#6f7b52', 0.4), 0.8) +
        ribbon(accent, 588, 1080),
    ) + pencil(backdrop, look.variation % 2 ? '#d3a13f' : '#3f5a56', 'translate(420 1300) rotate(-14)')
  )
}

function drawn(desk: Desk): string {
  const { accent } = desk
  const ink = '#4a4644'
  return (
    oval(770, 560, 92, 92, tone(mix(accent, '#e7b26a', 0.5), 0.08), 0.75) +
    shape('M300 840Q460 660 600 760Q740 620 930 800V960H300Z', mix(accent, '#dfe5e0', 0.55), 0.8) +
    shape('M300 900Q480 790 640 880Q780 820 930 880V1010H300Z', mix(accent, '#9fae9a', 0.4), 0.85) +
    stroke('M300 840Q460 660 600 760Q740 620 930 800M300 900Q480 790 640 880Q780 820 930 880', ink, 3.5, 0.7) +
    stroke('M420 900V820M420 850L396 820M420 840L446 806M820 900V800M820 850L794 812M820 830L848 794', ink, 4, 0.8) +
    stroke('M340 960h90M470 970h150M660 962h120M810 974h70', ink, 3, 0.5)
  )
}

function sketchbook(desk: Desk): string {
  const { drawing, backdrop, look, cover, paper } = desk
  if (look.view === 0) {
    const band = shape(box(290, 960, 640, 70), tone(cover, lightness(cover) > 0.62 ? -0.14 : 0.16), 0.9)
    return (
      placed(
        'rotate(5 600 740)',
        bound(desk, 290, 280, 640, 900) +
          drawing.inside(box(290, 280, 640, 900, 16), band) +
          mark(desk, 620, 640) +
          wired(290, 326, 850, true),
      ) + pencil(backdrop, '#2f3d5c', 'translate(250 1350) rotate(-8)')
    )
  }
  const page = box(250, 330, 730, 800, 6)
  const leaves = [14, 7]
    .map((down) => placed(`translate(${down} ${down})`, shape(page, tone(paper, -0.12)) + stroke(page, tone(paper, -0.22), 1.5, 0.6)))
    .join('')
  return (
    placed(
      'rotate(-4 600 750)',
      thrown(box(240, 320, 770, 850, 12), backdrop, 26) +
        shape(box(240, 322, 766, 842, 12), cover) +
        leaves +
        sheet(desk, page) +
        drawing.inside(page, drawn(desk)) +
        wired(276, 330, 710, false),
    ) + pencil(backdrop, '#b4593f', 'translate(500 1270) rotate(-32)')
  )
}

function tabs(desk: Desk, x: number, y: number): string {
  const colours = ['#d3a13f', '#b4593f', '#7b7f58', '#8aa0ac', '#c98f7c', '#3f5a56']
  return colours
    .map(
      (colour, at) =>
        shape(box(x, y + at * 118, 48, 100, 12), tone(colour, -0.1)) +
        shape(box(x, y + at * 118, 44, 96, 12), desk.cover === colour ? tone(colour, 0.16) : colour),
    )
    .join('')
}

const week = (x: number, colour: string) =>
  [0, 1, 2, 3]
    .map((at) => stroke(box(x, 470 + at * 138, 372, 124, 8), colour, 3, 0.6) + shape(box(x, 470 + at * 138, 372, 30, 8), colour, 0.28))
    .join('')

function planner(desk: Desk): string {
  const { backdrop, accent, look, cover } = desk
  const grid = (colour: string) =>
    Array.from({ length: 35 }, (_, at) => shape(box(420 + (at % 7) * 52, 560 + Math.floor(at / 7) * 52, 36, 36, 6), colour)).join('')
  if (look.view === 0) {
    const special = shape(box(420 + 4 * 52, 560 + 2 * 52, 36, 36, 6), lightness(cover) > 0.62 ? accent : '#eec36a')
    return placed(
      'rotate(-5 600 750)',
      tabs(desk, 902, 360) +
        bound(desk, 290, 290, 610, 900) +
        pressed(cover, grid) +
        special +
        pressed(cover, (colour) => stroke('M420 500H768', colour, 6)) +
        ribbon(contrast(desk), 470, 1200),
    )
  }
  const fill =
    scribbles(182, 546, [220], '#4a5064') +
    scribbles(182, 684, [280], '#4a5064') +
    scribbles(676, 822, [200], '#4a5064') +
    shape(box(662, 470, 372, 124, 8), mix(accent, '#ffffff', 0.3), 0.4)
  return (
    placed(
      'rotate(-3 600 750)',
      tabs(desk, 1064, 420) + spread(desk, week(166, accent) + fill, fill + week(662, accent)) + ribbon(accent, 588, 1082),
    ) + pencil(backdrop, '#3f5a56', 'translate(520 1310) rotate(-10)')
  )
}

/** Pictures of what is bound, by the name of the thing. */
export const NOTEBOOKS = { Notebook: onDesk(notebook), Sketchbook: onDesk(sketchbook), Planner: onDesk(planner) }
