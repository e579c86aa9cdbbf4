/** Paper, for the desk: card set, desk pad and calendar. */
import { box, oval, placed, shape, stroke } from './drawing.ts'
import { mix, tone } from './palette.ts'
import { onDesk, pencil, pressed, sheet, sprig, wired, type Desk } from './paper.ts'
import { contact, thrown } from './scene.ts'

const MOTIFS = ['sprig', 'sun', 'hills'] as const

/** What a card shows, in its middle. */
function motif(desk: Desk, which: number, cx: number, cy: number, colour: string): string {
  const { look, paper } = desk
  const kind = MOTIFS[Math.abs(which) % MOTIFS.length]!
  const draw = (ink: string) => {
    if (kind === 'sprig') return sprig([cx, cy + 150], 300, ink)
    const rays = Array.from({ length: 16 }, (_, at) =>
      placed(`rotate(${at * 22.5} ${cx} ${cy})`, stroke(`M${cx} ${cy - 108}v-44`, ink, 9)),
    ).join('')
    if (kind === 'sun') return oval(cx, cy, 80, 80, ink) + rays
    const hill = (left: number, top: number, width: number) =>
      shape(`M${cx + left} ${cy + 130}Q${cx + left + width / 2} ${cy + top} ${cx + left + width} ${cy + 130}Z`, ink, 0.75)
    return (
      oval(cx + 78, cy - 120, 40, 40, ink) +
      hill(-170, -190, 220) +
      hill(-40, -110, 210) +
      stroke(`M${cx - 150} ${cy + 160}H${cx + 150}M${cx - 90} ${cy + 186}H${cx + 90}`, ink, 7)
    )
  }
  return look.material === 'Letterpress' ? pressed(colour === paper ? paper : mix(colour, paper, 0.15), draw) : draw(colour)
}

function card(desk: Desk, which: number, colour: string, turn: string, base = desk.paper): string {
  const outline = box(380, 400, 440, 620, 10)
  const edge = stroke(box(404, 424, 392, 572, 4), colour, 3, 0.6)
  return placed(
    turn,
    thrown(outline, desk.backdrop, 16) +
      sheet(desk, outline, base) +
      edge +
      motif(desk, which, 600, 700, colour) +
      stroke('M390 401H810', '#fff', 3, 0.6),
  )
}

function envelope(desk: Desk, turn: string): string {
  const { drawing, accent, backdrop } = desk
  const base = mix(accent, '#f3e8d6', 0.62)
  const outline = box(270, 560, 660, 470, 8)
  const flap = drawing.linear(
    [
      [0, tone(base, 0.06)],
      [1, tone(base, -0.03)],
    ],
    [0, 0],
    [0, 1],
  )
  return placed(
    turn,
    thrown(outline, backdrop, 16) +
      shape(outline, tone(base, -0.02)) +
      shape('M270 1026L560 800H640L930 1026Z', tone(base, -0.05)) +
      shape('M270 564L600 850L930 564Z', tone(base, -0.24), 0.5).replace('<path', '<path transform="translate(0 10)"') +
      shape('M274 560H926L620 822Q600 838 580 822Z', flap) +
      stroke('M274 562L580 822Q600 838 620 822L926 562', tone(base, -0.16), 2.5, 0.6),
  )
}

function cards(desk: Desk): string {
  const { accent, look, paper } = desk
  const other = mix(accent, '#d8a24c', 0.6)
  if (look.view === 0)
    return placed(
      'translate(0 40)',
      envelope(desk, 'translate(-30 150) rotate(-12 600 800)') +
        card(desk, look.variation + 1, other, 'translate(-130 -90) rotate(-11 600 700)') +
        card(
          desk,
          look.variation + 2,
          tone(accent, 0.12),
          'translate(150 -110) rotate(10 600 700)',
          look.material === 'Recycled' ? paper : mix(paper, accent, 0.1),
        ) +
        card(desk, look.variation, accent, 'translate(4 10) rotate(-1 600 700)'),
    )
  const pile = [5, 4, 3, 2, 1]
    .map((at) =>
      placed(
        `translate(${at * 5} ${at * 9}) rotate(${(at % 3) - 1} 600 700)`,
        shape(box(380, 400, 440, 620, 10), at % 2 ? tone(paper, -0.1) : mix(accent, paper, 0.4)),
      ),
    )
    .join('')
  const twine = '#b08a5a'
  const bow = stroke(
    'M600 930C540 880 480 890 500 926C516 950 570 940 600 930C660 880 720 890 700 926C684 950 630 940 600 930M600 930L556 1000M600 930L650 1006',
    twine,
    7,
  )
  const tied =
    placed('translate(4 6)', stroke('M380 930H820M600 400V1020', '#3a2a1c', 8, 0.25)) +
    stroke('M380 930H824M600 402V1018', twine, 7) +
    stroke('M380 928H824', tone(twine, 0.14), 2, 0.8, ' stroke-dasharray="5 6"') +
    bow
  return placed(
    'translate(40 40) rotate(5 600 750)',
    envelope(desk, 'translate(-130 60) rotate(-24 600 800)') +
      thrown(box(382, 404, 470, 660, 10), desk.backdrop, 26) +
      pile +
      card(desk, look.variation, accent, '') +
      tied,
  )
}

/** A month without its numbers. */
function month(x: number, y: number, each: number, colour: string, accent: string): string {
  const days = Array.from({ length: 33 }, (_, at) => at + 2)
  return days
    .map((at) => {
      const [cx, cy] = [x + (at % 7) * each, y + Math.floor(at / 7) * each]
      const isSpecial = at === 17
      return (
        (isSpecial ? oval(cx, cy, each * 0.36, each * 0.36, accent) : '') +
        oval(cx, cy, each * 0.11, each * 0.11, isSpecial ? '#fff8ea' : at % 7 === 6 ? accent : colour)
      )
    })
    .join('')
}

/** The picture over the month: hills, water and a sun, in the accent and what goes with it. */
function landscape({ drawing, accent, look }: Desk, x: number, y: number, width: number, height: number): string {
  const at = (fx: number, fy: number) => `${x + width * fx} ${y + height * fy}`
  const sky = drawing.linear(
    [
      [0, mix('#f6e6cd', accent, 0.12)],
      [1, '#f3cfae'],
    ],
    [0, 0],
    [0, 1],
  )
  const hill = (d: string, colour: string) => shape(`${d}L${at(1, 1)}L${at(0, 1)}Z`, colour)
  const sun = look.variation % 2 ? 0.32 : 0.66
  return drawing.inside(
    box(x, y, width, height),
    shape(box(x, y, width, height), sky) +
      oval(x + width * sun, y + height * 0.4, height * 0.17, height * 0.17, '#e9955a') +
      hill(`M${at(0, 0.6)}Q${at(0.2, 0.3)} ${at(0.42, 0.56)}Q${at(0.66, 0.3)} ${at(1, 0.6)}`, mix(accent, '#f0d4bd', 0.55)) +
      hill(`M${at(0, 0.74)}Q${at(0.3, 0.5)} ${at(0.58, 0.72)}Q${at(0.8, 0.58)} ${at(1, 0.7)}`, mix(accent, '#d8b29a', 0.28)) +
      hill(`M${at(0, 0.88)}Q${at(0.4, 0.7)} ${at(1, 0.9)}`, tone(accent, -0.05)),
  )
}

function wallCalendar(desk: Desk): string {
  const { backdrop, accent, paper } = desk
  const page = box(270, 270, 660, 960, 6)
  const under = [10, 5].map((down) => placed(`translate(0 ${down})`, shape(page, tone(paper, -0.12)))).join('')
  return (
    thrown(page, backdrop, 26) +
    under +
    sheet(desk, page) +
    landscape(desk, 306, 326, 588, 420) +
    stroke('M306 804H520', accent, 14) +
    stroke('M306 846H894', tone(paper, -0.2), 3, 0.8) +
    month(366, 896, 78, tone(paper, -0.5), accent) +
    wired(292, 262, 640, false) +
    stroke('M540 250L600 170L660 250', '#6b665f', 5) +
    placed('translate(8 12)', oval(600, 166, 16, 16, tone(backdrop.wall, -0.35), 0.4)) +
    oval(600, 166, 16, 16, '#c79a4e') +
    oval(596, 162, 7, 7, '#f2dca6')
  )
}

/** Standing on a desk, on its easel. */
function deskCalendar(desk: Desk): string {
  const { drawing, backdrop, accent, cover, paper } = desk
  const page = box(220, 560, 760, 640, 8)
  const floor = shape(
    box(0, 1130, 1200, 370),
    drawing.linear(
      [
        [0, tone(backdrop.floor, -0.02)],
        [1, tone(backdrop.floor, 0.05)],
      ],
      [0, 0],
      [0, 1],
    ),
  )
  return (
    floor +
    contact(drawing, 620, 1226, 430, backdrop.floor) +
    shape('M960 580L1060 1222H960Z', tone(cover, -0.22)) +
    shape('M206 552H994L1006 1236H194Z', tone(cover, -0.04)) +
    sheet(desk, page) +
    drawing.inside(page, landscape(desk, 220, 560, 300, 640)) +
    stroke('M566 650H740', accent, 14) +
    stroke('M566 692H934', tone(paper, -0.2), 3, 0.8) +
    month(588, 770, 56, tone(paper, -0.5), accent) +
    shape(box(194, 1216, 812, 22, 6), tone(cover, -0.12)) +
    wired(244, 556, 720, false)
  )
}

function deskPad(desk: Desk): string {
  const { drawing, backdrop, accent, look, paper, cover } = desk
  const [x, y, width, height] = [110, 400, 980, 700]
  const page = `M${x} ${y}H${x + width}V${y + height - 110}L${x + width - 110} ${y + height}H${x}Z`
  const under = [12, 6].map((down) => shape(box(x, y + down, width, height, 4), tone(paper, -0.1 - down * 0.004))).join('')
  const curl = `M${x + width} ${y + height - 110}C${x + width - 60} ${y + height - 104} ${x + width - 104} ${y + height - 84} ${x + width - 110} ${y + height}Z`
  const ink = tone(paper, -0.24)
  const columns = [1, 2, 3, 4, 5, 6].map((at) => stroke(`M${x + at * 140} ${y + 130}V${y + height - 150}`, ink, 2.5, 0.7)).join('')
  const notes =
    shape(box(x + 160, y + 190, 100, 56, 10), mix(accent, '#ffffff', 0.35)) +
    shape(box(x + 440, y + 290, 100, 84, 10), mix(accent, '#f0c98a', 0.5)) +
    shape(box(x + 720, y + 170, 100, 46, 10), mix(accent, '#ffffff', 0.55)) +
    stroke(`M${x + 36} ${y + 210}l18 20l34 -44M${x + 36} ${y + 300}l18 20l34 -44`, accent, 7)
  const heads = Array.from({ length: 7 }, (_, at) => stroke(`M${x + 24 + at * 140} ${y + 104}h${54 + ((at * 13) % 30)}`, ink, 8, 0.9)).join(
    '',
  )
  const strip =
    shape(box(x, y - 4, width, 54, 4), cover) +
    shape(box(x, y + 40, width, 10), tone(cover, -0.14)) +
    stroke(`M${x + 6} ${y}H${x + width - 6}`, tone(cover, 0.2), 3, 0.6)
  const whole =
    thrown(box(x, y, width, height + 10, 4), backdrop, 22) +
    under +
    drawing.inside(
      page,
      sheet(desk, page) +
        (look.material === 'Dotted' ? '' : columns) +
        stroke(`M${x} ${y + 130}H${x + width}M${x} ${y + height - 150}H${x + width}`, ink, 2.5, 0.8) +
        heads +
        notes,
    ) +
    strip +
    placed('translate(-8 -4)', shape(curl, '#2a2018', 0.2)) +
    shape(
      curl,
      drawing.linear(
        [
          [0, tone(paper, -0.12)],
          [0.5, tone(paper, 0.04)],
          [1, tone(paper, -0.06)],
        ],
        [0, 0],
        [1, 1],
      ),
    )
  const mug = placed(
    'translate(850 240)',
    oval(14, 22, 150, 150, tone(backdrop.wall, -0.4), 0.3) +
      stroke('M-120 60L-196 104', '#efe5d3', 40) +
      oval(0, 0, 142, 142, '#efe5d3') +
      oval(0, 0, 120, 120, '#cfc1a8') +
      oval(4, 6, 112, 112, '#4e2f1d') +
      stroke('M-84 -34A92 92 0 0 1 -10 -90', '#a06a42', 8, 0.6),
  )
  return look.view === 0
    ? placed('rotate(-3 600 750)', whole) + pencil(backdrop, mix(accent, '#d3a13f', 0.6), 'translate(420 1260) rotate(-6)')
    : placed('translate(-30 110) rotate(-9 600 750)', whole) + mug + pencil(backdrop, '#3f5a56', 'translate(620 1130) rotate(-38)')
}

const calendar = (desk: Desk): string => (desk.look.view === 0 ? wallCalendar(desk) : deskCalendar(desk))

/** Pictures of what is for the desk, by the name of the thing. */
export const DESK = { 'Card Set': onDesk(cards), 'Desk Pad': onDesk(deskPad), Calendar: onDesk(calendar) }
