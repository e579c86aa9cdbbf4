/** A still life for what there is no picture of: a ball, a drum and an arch, in the thing's colour. */
import { oval, shape, whole } from './drawing.ts'
import { mix, tone } from './palette.ts'
import { contact } from './scene.ts'
import { as, body, inRoom, mouth, turned, type Still } from './solids.ts'

function forms({ drawing, backdrop, solid, look }: Still): string {
  const stone = as(solid, 'stone', solid.base, 'Stoneware')
  const pale = as(stone, 'stone', mix(solid.base, '#f3e8d6', 0.7))
  const warm = mix(solid.base, '#c9643f', 0.7)
  const ball = drawing.radial(
    [
      [0, tone(warm, 0.14)],
      [0.5, warm],
      [1, tone(warm, -0.16)],
    ],
    [0.36, 0.3],
    0.75,
  )
  const arch =
    'M300 1200V760C300 560 420 470 540 470C660 470 780 560 780 760V1200H650V770C650 660 600 610 540 610C480 610 430 660 430 770V1200Z'
  const x = look.view === 0 ? 740 : 700
  return (
    contact(drawing, 540, 1196, 270, backdrop.floor) +
    body(pale, arch) +
    contact(drawing, x, 1262, 150, backdrop.floor) +
    turned(stone, 'M150 1010V1240C140 1266 60 1276 0 1276', x) +
    mouth(stone, x, 1010, 150, 34, 0) +
    oval(x, 1010, 150, 34, tone(stone.base, 0.06)) +
    shape(whole('M0 1000C60 1000 80 1006 80 1014C80 1022 40 1026 0 1026', x + 8), tone(stone.base, -0.3), 0.4) +
    oval(x, 916, 100, 98, ball)
  )
}

/** The plain still life. */
export const plain = inRoom(forms)
