/** Where things stand: wall, floor and table top in soft colours, with daylight from the upper left and the shadows that it throws. */
import { box, oval, placed, shape, type Drawing } from './drawing.ts'
import { difference, mix, tone } from './palette.ts'

export interface Backdrop {
  wall: string
  floor: string
}

const BACKDROPS: Backdrop[] = [
  { wall: '#efe4d3', floor: '#e0cfb6' },
  { wall: '#ecd0c0', floor: '#dcb39d' },
  { wall: '#cfd9c9', floor: '#b4c3ac' },
  { wall: '#cddbe2', floor: '#b1c5cf' },
  { wall: '#f3dfae', floor: '#e5c987' },
  { wall: '#dcd3e2', floor: '#c5b8cf' },
  { wall: '#dfa987', floor: '#cd8f6b' },
  { wall: '#a9c4bf', floor: '#8fb0aa' },
  { wall: '#98b4c6', floor: '#7d9db2' },
  { wall: '#f0c9b8', floor: '#e2aa95' },
  { wall: '#b3bd97', floor: '#99a57b' },
  { wall: '#d9a9a3', floor: '#c68f89' },
  { wall: '#dfbd74', floor: '#cfa656' },
]

/** The backdrop that `variation` chooses of those that a thing of this colour stands out from; there are always a few to choose from. */
export function backdropFor(colour: string, variation: number): Backdrop {
  const apart = ({ wall, floor }: Backdrop) => Math.min(difference(wall, colour), difference(floor, colour) * 1.2)
  const best = BACKDROPS.toSorted((one, other) => apart(other) - apart(one))
  const choice = best.filter((backdrop, at) => at < 5 || apart(backdrop) > 0.2)
  return choice[Math.abs(Math.imul(variation + 7, 2654435761) >>> 8) % choice.length]!
}

/** The pane of light that a window throws on a wall or a table. */
function daylight(drawing: Drawing, colour: string): string {
  const light = drawing.linear(
    [
      [0, tone(colour, 0.12), 0.75],
      [1, tone(colour, 0.12), 0.05],
    ],
    [0, 0],
    [0.4, 1],
  )
  return shape('M-40 120L420 -40L1000 -40L330 1500L-40 1500Z', light) + shape('M1060 -40L1200 -40L1200 260L640 1500L400 1500Z', light, 0.7)
}

/** What is on the wall behind the thing: an arch, a sun, light of a window, or nothing. */
function behind(drawing: Drawing, { wall, floor }: Backdrop, variation: number): string {
  const paint = drawing.linear(
    [
      [0, mix(wall, floor, 0.75)],
      [1, mix(wall, floor, 0.3)],
    ],
    [0, 0],
    [0, 1],
  )
  const kinds = [
    shape('M215 1160V620C215 400 385 235 600 235C815 235 985 400 985 620V1160Z', paint),
    oval(600, 640, 400, 400, paint),
    daylight(drawing, wall),
    '',
  ]
  return kinds[Math.abs(variation) % kinds.length]!
}

const FLOOR = 1130

/** A room: a wall and a floor. */
export function room(drawing: Drawing, backdrop: Backdrop, variation: number): string {
  const { wall, floor } = backdrop
  return (
    shape(
      box(0, 0, 1200, FLOOR + 2),
      drawing.linear(
        [
          [0, tone(wall, 0.035)],
          [1, tone(wall, -0.025)],
        ],
        [0, 0],
        [0.6, 1],
      ),
    ) +
    behind(drawing, backdrop, variation) +
    shape(
      box(0, FLOOR - 90, 1200, 92),
      drawing.linear(
        [
          [0, tone(wall, -0.1), 0],
          [1, tone(wall, -0.1), 0.35],
        ],
        [0, 0],
        [0, 1],
      ),
    ) +
    shape(
      box(0, FLOOR, 1200, 370),
      drawing.linear(
        [
          [0, mix(floor, wall, 0.25)],
          [0.25, floor],
          [1, tone(floor, 0.035)],
        ],
        [0, 0],
        [0, 1],
      ),
    ) +
    shape(box(0, FLOOR, 1200, 3), tone(floor, 0.1), 0.28)
  )
}

/** A wall that something hangs on, or a table top seen from above. */
export function surface(drawing: Drawing, { wall }: Backdrop, variation: number): string {
  return (
    shape(
      box(0, 0, 1200, 1500),
      drawing.linear(
        [
          [0, tone(wall, 0.04)],
          [0.55, wall],
          [1, tone(wall, -0.055)],
        ],
        [0, 0],
        [0.7, 1],
      ),
    ) + (variation % 3 === 0 ? '' : daylight(drawing, wall))
  )
}

/** The shadow of what stands on the floor around this point: dark where it touches, thrown to the right. */
export function contact(drawing: Drawing, cx: number, cy: number, rx: number, floor: string): string {
  const dark = tone(floor, -0.42)
  const fade = (strength: number) =>
    drawing.radial([
      [0, dark, strength],
      [0.45, dark, strength * 0.62],
      [0.75, dark, strength * 0.2],
      [1, dark, 0],
    ])
  return (
    oval(cx + rx * 0.42, cy + rx * 0.03, rx * 1.65, rx * 0.3, fade(0.42)) + oval(cx + rx * 0.04, cy + 2, rx * 1.13, rx * 0.19, fade(0.75))
  )
}

/** The shadow on a surface of what lies on it, or hangs just before it: layers that grow, as a blur of this size takes too long. */
export function thrown(outline: string, { wall }: Backdrop, away = 26): string {
  const dark = tone(wall, -0.36)
  const layer = (width: number, opacity: number) =>
    `<path d="${outline}" fill="${dark}" stroke="${dark}" stroke-width="${width}" stroke-linejoin="round" opacity="${opacity}"/>`
  const far = Array.from({ length: 9 }, (_, at) => layer(2 + at * away * 0.42, 0.052)).join('')
  const near = [3, 9, 16].map((width) => layer(width, 0.11)).join('')
  return placed(`translate(${away} ${Math.round(away * 1.3)})`, far) + placed('translate(4 7)', near)
}

/** The wide shadow under what stands on legs or is open below. */
export function pool(drawing: Drawing, cx: number, cy: number, rx: number, ry: number, floor: string): string {
  const dark = tone(floor, -0.4)
  return oval(
    cx,
    cy,
    rx,
    ry,
    drawing.radial([
      [0, dark, 0.52],
      [0.6, dark, 0.22],
      [1, dark, 0],
    ]),
  )
}

/** The light around a lamp, or what it throws on the floor. */
export const halo = (drawing: Drawing, cx: number, cy: number, rx: number, ry: number, colour: string, strength: number): string =>
  oval(
    cx,
    cy,
    rx,
    ry,
    drawing.radial([
      [0, colour, strength],
      [0.45, colour, strength * 0.42],
      [1, colour, 0],
    ]),
  )
