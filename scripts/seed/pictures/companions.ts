/** What stands beside the thing that is sold: fruit, books, stems, a cup. */
import { box, leaf, oval, placed, shape, stroke, type Drawing } from './drawing.ts'
import { tone } from './palette.ts'
import { contact } from './scene.ts'
import { as, mouth, solidOf, turned } from './solids.ts'

/** A round fruit. */
export function fruit(drawing: Drawing, cx: number, cy: number, r: number, colour: string): string {
  const paint = drawing.radial(
    [
      [0, tone(colour, 0.12)],
      [0.5, colour],
      [1, tone(colour, -0.15)],
    ],
    [0.36, 0.3],
    0.75,
  )
  return (
    oval(cx, cy, r, r * 0.94, paint) +
    stroke(`M${cx + r * 0.1} ${cy - r * 0.8}q4 -${r * 0.2} 14 -${r * 0.26}`, '#6b5233', r * 0.08) +
    shape(leaf([cx + r * 0.16, cy - r * 0.94], [cx + r * 0.5, cy - r * 1.3], [cx + r * 0.85, cy - r * 1.06], r * 0.12), '#76854e') +
    oval(cx - r * 0.38, cy - r * 0.42, r * 0.2, r * 0.13, '#fffaf0', 0.35)
  )
}

/** Books lying on each other, the lowest at `foot`. */
export function books(drawing: Drawing, cx: number, foot: number, width: number, colours: string[]): string {
  let top = foot
  return colours
    .map((colour, at) => {
      const [height, wide, off] = [46 + ((at * 17) % 22), width - ((at * 46) % 70), ((at * 29) % 34) - 14]
      top -= height
      const x = cx - wide / 2 + off
      const cover = drawing.linear([
        [0, tone(colour, 0.05)],
        [0.5, colour],
        [1, tone(colour, -0.08)],
      ])
      return (
        shape(box(x, top, wide, height, 8), cover) +
        shape(box(x + 46, top, 10, height) + box(x + wide - 56, top, 10, height), tone(colour, at % 2 ? -0.14 : 0.16), 0.6) +
        shape(box(x + wide * 0.36, top + height * 0.4, wide * 0.28, height * 0.16, 4), tone(colour, 0.22), 0.5) +
        shape(box(x + 4, top + height - 9, wide - 8, 9, 4), tone(colour, -0.14), 0.8) +
        shape(box(x + 4, top, wide - 8, 4, 2), tone(colour, 0.16), 0.7)
      )
    })
    .join('')
}

/** A stem with leaves on both sides, from its foot to its tip, bowed through a third point. */
function stem([x1, y1]: [number, number], [cx, cy]: [number, number], [x2, y2]: [number, number], colour: string, size: number): string {
  const at = (t: number): [number, number] => [
    (1 - t) ** 2 * x1 + 2 * t * (1 - t) * cx + t * t * x2,
    (1 - t) ** 2 * y1 + 2 * t * (1 - t) * cy + t * t * y2,
  ]
  const leaves = [0.42, 0.57, 0.72, 0.87, 1].map((t, index) => {
    const [x, y] = at(t)
    const length = size * (1.15 - t * 0.45)
    const one = (way: number) =>
      shape(
        leaf([x, y], [x + way * length * 0.55, y - length * 0.62], [x + way * length, y - length * 0.5], length * 0.34),
        tone(colour, way * -0.045 + (index % 2) * 0.03),
      )
    return one(-1) + one(1)
  })
  return stroke(`M${x1} ${y1}Q${cx} ${cy} ${x2} ${y2}`, tone(colour, -0.12), 6) + leaves.join('')
}

/** Branches in a vase of which the opening is here. */
export function branches(x: number, y: number, colour: string, spread = 1): string {
  return (
    stem([x + 6, y], [x + 30, y - 200], [x + 170 * spread, y - 390], tone(colour, -0.06), 92) +
    stem([x - 4, y], [x - 20, y - 240], [x - 120 * spread, y - 470], colour, 100) +
    stem([x, y], [x + 6, y - 160], [x + 10, y - 300], tone(colour, 0.05), 80)
  )
}

/** Grasses with feathery heads, dried. */
export function grasses(x: number, y: number, colour: string): string {
  const one = (dx: number, height: number) => {
    const [tx, ty] = [x + dx, y - height]
    const head = `M${tx} ${ty}C${tx + dx * 0.02 + 34} ${ty + 70} ${tx - dx * 0.1 + 26} ${ty + 170} ${tx - dx * 0.24} ${ty + 210}C${tx - dx * 0.1 - 34} ${ty + 160} ${tx - 30} ${ty + 70} ${tx} ${ty}Z`
    return (
      stroke(`M${x} ${y}Q${x + dx * 0.2} ${y - height * 0.5} ${tx - dx * 0.2} ${ty + 200}`, tone(colour, -0.16), 5) +
      shape(head, colour) +
      shape(head, '#fff6e2', 0.2)
    )
  }
  return one(-150, 470) + one(140, 430) + one(-60, 560) + one(54, 530) + one(4, 400)
}

/** Round flowers on thin stems. */
export function blooms(x: number, y: number, colour: string): string {
  const one = (dx: number, height: number, r: number) => {
    const [tx, ty] = [x + dx, y - height]
    const petals = Array.from({ length: 9 }, (_, at) =>
      placed(`rotate(${at * 40} ${tx} ${ty})`, oval(tx, ty - r * 0.62, r * 0.3, r * 0.5, tone(colour, at % 2 ? 0.05 : -0.02))),
    ).join('')
    return (
      stroke(`M${x} ${y}Q${x + dx * 0.15} ${y - height * 0.6} ${tx} ${ty}`, '#74825a', 6) +
      petals +
      oval(tx, ty, r * 0.3, r * 0.28, '#b9792f') +
      oval(tx - 3, ty - 4, r * 0.16, r * 0.13, '#dba654')
    )
  }
  return (
    one(-140, 330, 72) + one(120, 300, 66) + one(-20, 430, 80) + shape(leaf([x, y], [x + 90, y - 90], [x + 150, y - 130], 24), '#7f8d62')
  )
}

/** A small cup without a handle, its foot here. */
export function cup(drawing: Drawing, cx: number, foot: number, colour: string, floor: string): string {
  const clay = as(solidOf(drawing, 'Stoneware', colour), 'stone', colour, 'Stoneware')
  const top = foot - 176
  return (
    contact(drawing, cx, foot - 8, 92, floor) +
    turned(clay, `M104 ${top}C104 ${top + 80} 98 ${foot - 40} 82 ${foot - 14}C60 ${foot} 20 ${foot + 2} 0 ${foot + 2}`, cx) +
    mouth(clay, cx, top, 104, 24, 9) +
    oval(cx, top + 8, 84, 15, '#5d3a24') +
    oval(cx - 20, top + 6, 40, 6, '#8a5a38', 0.6)
  )
}
