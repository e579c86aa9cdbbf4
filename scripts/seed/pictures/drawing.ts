/** A drawing under way: shapes as SVG text, and the paints that they name. */

/** Where in a gradient a colour stands, and how opaque it is there. */
export type Stop = [at: number, colour: string, opacity?: number]
export type Point = [x: number, y: number]

const WIDTH = 1200
const HEIGHT = 1500
const AXIS = WIDTH / 2

/** Keeps paints, each once, and hands out what a shape calls them by. */
export class Drawing {
  private readonly defs = new Map<string, string>()

  private define(body: (id: string) => string): string {
    const key = body('')
    const id = this.defs.get(key) ?? `p${this.defs.size}`
    this.defs.set(key, id)
    return id
  }

  /** A gradient from one point to another, in shares of the box of what it fills. */
  linear(stops: Stop[], [x1, y1]: Point = [0, 0], [x2, y2]: Point = [1, 0]): string {
    return `url(#${this.define((id) => `<linearGradient id="${id}" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}">${stopsOf(stops)}</linearGradient>`)})`
  }

  radial(stops: Stop[], [cx, cy]: Point = [0.5, 0.5], r = 0.5): string {
    return `url(#${this.define((id) => `<radialGradient id="${id}" cx="${cx}" cy="${cy}" r="${r}">${stopsOf(stops)}</radialGradient>`)})`
  }

  /**
   * A tile that repeats over what it fills; `place` is a transform. A small one is repeated in itself first: where small tiles are
   * turned, the renderer takes ten times as long.
   */
  tile(width: number, height: number, content: string, place = ''): string {
    const [across, down] = [Math.ceil(180 / width), Math.ceil(180 / height)]
    const size = (x: number, y: number) => `width="${width * x}" height="${height * y}" patternUnits="userSpaceOnUse"`
    const one = this.define((id) => `<pattern id="${id}" ${size(1, 1)}>${content}</pattern>`)
    const filled = shape(box(0, 0, width * across, height * down), `url(#${one})`)
    const many = across * down > 1 ? this.define((id) => `<pattern id="${id}" ${size(across, down)}>${filled}</pattern>`) : one
    return `url(#${place ? this.define((id) => `<pattern id="${id}" href="#${many}" patternTransform="${place}"/>`) : many})`
  }

  /** What is drawn, inside the outline alone. */
  inside(outline: string, content: string): string {
    return `<g clip-path="url(#${this.define((id) => `<clipPath id="${id}"><path d="${outline}"/></clipPath>`)})">${content}</g>`
  }

  svg(content: string): string {
    const defs = [...this.defs].map(([body, id]) => body.replace('id=""', `id="${id}"`)).join('')
    const whole = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}"><defs>${defs}</defs>${content}</svg>`
    return whole.replace(/\d+\.\d{3,}/g, (number) => String(Math.round(Number(number) * 100) / 100))
  }
}

const stopsOf = (stops: Stop[]) =>
  stops
    .map(
      ([at, colour, opacity]) =>
        `<stop offset="${at}" stop-color="${colour}"${opacity === undefined ? '' : ` stop-opacity="${opacity}"`}/>`,
    )
    .join('')

export const shape = (d: string, fill: string, opacity = 1): string =>
  `<path d="${d}" fill="${fill}"${opacity === 1 ? '' : ` fill-opacity="${opacity}"`}/>`

export const stroke = (d: string, colour: string, width: number, opacity = 1, more = ''): string =>
  `<path d="${d}" fill="none" stroke="${colour}" stroke-width="${width}" stroke-linecap="round" stroke-linejoin="round"${opacity === 1 ? '' : ` stroke-opacity="${opacity}"`}${more}/>`

export const oval = (cx: number, cy: number, rx: number, ry: number, fill: string, opacity = 1): string =>
  `<ellipse cx="${cx}" cy="${cy}" rx="${rx}" ry="${ry}" fill="${fill}"${opacity === 1 ? '' : ` fill-opacity="${opacity}"`}/>`

export const placed = (transform: string, content: string): string => `<g transform="${transform}">${content}</g>`

/** The outline of a box with round corners. */
export const box = (x: number, y: number, width: number, height: number, r = 0): string =>
  r === 0
    ? `M${x} ${y}h${width}v${height}h${-width}Z`
    : `M${x + r} ${y}h${width - 2 * r}q${r} 0 ${r} ${r}v${height - 2 * r}q0 ${r} ${-r} ${r}h${2 * r - width}q${-r} 0 ${-r} ${-r}v${2 * r - height}q0 ${-r} ${r} ${-r}Z`

/** A fold or a crease: a leaf from one point to the other, bowed through a third. */
export const leaf = ([x1, y1]: Point, [cx, cy]: Point, [x2, y2]: Point, width: number): string =>
  `M${x1} ${y1}Q${cx - width} ${cy} ${x2} ${y2}Q${cx + width} ${cy} ${x1} ${y1}Z`

interface Step {
  command: string
  points: Point[]
}

/** The steps of an outline; upright and level lines become plain ones. */
function steps(d: string): Step[] {
  let last: Point = [0, 0]
  return [...d.matchAll(/([MLCQHV])([^MLCQHV]*)/g)].flatMap(([, command, rest]) => {
    const numbers = (rest!.match(/-?\d*\.?\d+/g) ?? []).map(Number)
    if (command === 'H' || command === 'V') {
      last = command === 'H' ? [numbers[0]!, last[1]] : [last[0], numbers[0]!]
      return [{ command: 'L', points: [last] }]
    }
    const points = Array.from({ length: numbers.length / 2 }, (_, at): Point => [numbers[at * 2]!, numbers[at * 2 + 1]!])
    const each = command === 'C' ? 3 : command === 'Q' ? 2 : 1
    last = points.at(-1)!
    return Array.from({ length: points.length / each }, (_, at) => ({
      command: command!,
      points: points.slice(at * each, at * each + each),
    }))
  })
}

const written = (command: string, points: Point[]) => command + points.map(([x, y]) => `${x} ${y}`).join(' ')
const moved =
  (side: number, axis: number) =>
  ([x, y]: Point): Point => [axis + side * x, y]

/** One side of a drawing whose x counts from the axis: 1 for the right side, -1 for the left one. */
export const side = (d: string, which: 1 | -1, axis = AXIS): string =>
  `${steps(d)
    .map(({ command, points }) => written(command, points.map(moved(which, axis))))
    .join('')}${d.endsWith('Z') ? 'Z' : ''}`

/** The whole outline of which the right half, from the top to the bottom, is given with x counted from the axis. */
export function whole(half: string, axis = AXIS): string {
  const parts = steps(half)
  const ends = parts.map(({ points }) => points.at(-1)!)
  const back = parts
    .map(({ command, points }, at) =>
      at === 0 ? '' : written(command, [...points.slice(0, -1).reverse(), ends[at - 1]!].map(moved(-1, axis))),
    )
    .reverse()
  return `${side(half, 1, axis)}${written('L', [moved(-1, axis)(ends.at(-1)!)])}${back.join('')}Z`
}

/** Numbers from 0 to just below 1 that follow from `from` alone. */
export function numbers(from: number): () => number {
  let state = (from * 2654435761 + 1013904223) >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state >>> 8) / 2 ** 24
  }
}
