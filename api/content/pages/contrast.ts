/** The contrast of two colours, as WCAG 2.2 reckons it. */

/** Relative luminance of `#RRGGBB`, from 0 to 1. */
function luminance(hex: string): number {
  const [red, green, blue] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** From 1 for the same colour to 21 for black on white. */
export function contrast(a: string, b: string): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}
