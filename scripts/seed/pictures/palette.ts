/** Colours of the pictures: what things are dyed and made in, and how a colour looks in light and in shade. */

const DYES: Record<string, string> = {
  Ink: '#2d3b58',
  Sand: '#d8c09a',
  Moss: '#7b8156',
  Charcoal: '#4a4b52',
  Ivory: '#f1e7d4',
  Rust: '#bc5c38',
  Olive: '#717443',
  Orange: '#e67a32',
}

/** A material that takes a colour in a way of its own, and what it is when nobody has dyed it. */
const MATERIALS: Record<string, Record<string, string>> = {
  Linen: { Ink: '#46536c', Sand: '#dfcbaa', Moss: '#929871', plain: '#e4d8c2' },
  Merino: { Ink: '#2b3757', Moss: '#747a4e', plain: '#c9b8a3' },
  Cotton: { Sand: '#dcc7a4', plain: '#f0ebe1' },
  Denim: { Ink: '#3d5582', Sand: '#dccaa8', Moss: '#6f7659', plain: '#5d7ba6' },
  Corduroy: { Ink: '#2a3a5e', Sand: '#cda56d', Moss: '#686c3b', plain: '#a9663a' },
  Flannel: { Ink: '#34456a', Sand: '#d4b68c', Moss: '#787d54', plain: '#a94c3d' },
  Oak: { plain: '#d6a871', Charcoal: '#57504c', Ivory: '#e9d9bd', Rust: '#b26a3d' },
  Walnut: { plain: '#8a5a3a', Charcoal: '#453b39', Ivory: '#c9ab8a', Rust: '#96492b' },
  Stoneware: { plain: '#cfc2ac' },
  Brass: { plain: '#cfa24e', Charcoal: '#5b5552', Ivory: '#e6d6b0', Rust: '#c9764b' },
  Glass: { plain: '#b9d6cd', Charcoal: '#75787f', Ivory: '#ece4d2', Rust: '#d0753f' },
  Wool: { plain: '#dccdb4' },
  Waxed: { Olive: '#6b6a3a', Orange: '#c9692c', plain: '#7c6038' },
  Ripstop: { Olive: '#7c8450', Orange: '#f08136', plain: '#5c8494' },
  Titanium: { Olive: '#757a58', plain: '#9c9a9a' },
  Canvas: { Olive: '#80804f', Orange: '#e08a45', plain: '#d9c7a2' },
  Aluminium: { Olive: '#7b8055', plain: '#c6cbce' },
  Recycled: { plain: '#c2a682' },
  Laid: { plain: '#f2e9d6' },
  Dotted: { plain: '#f7f3ea' },
  'Cloth-Bound': { plain: '#7f8f8a' },
  Letterpress: { plain: '#f4eee3' },
}

/** The colour of a thing of `material` in `colour`; null for what is sold as it is. */
export const dyed = (material: string, colour: string | null): string => {
  const own = MATERIALS[material] ?? {}
  const plain = own.plain ?? '#cbbfae'
  return colour === null || colour === 'Natural' ? plain : (own[colour] ?? DYES[colour] ?? plain)
}

type Triple = [number, number, number]

const clamp = (value: number, most = 1) => Math.min(most, Math.max(0, value))
const linear = (value: number) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
const encoded = (value: number) => (value <= 0.0031308 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055)

/** Lightness and the two axes of colour, as the eye measures them (OKLab). */
function seen(hex: string): Triple {
  const [r, g, b] = [1, 3, 5].map((at) => linear(parseInt(hex.slice(at, at + 2), 16) / 255)) as Triple
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ]
}

function hexOf([light, a, b]: Triple): string {
  const l = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (light - 0.0894841775 * a - 1.291485548 * b) ** 3
  const rgb = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ]
  return `#${rgb
    .map((value) =>
      Math.round(clamp(encoded(clamp(value))) * 255)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`
}

/** Lighter or, below 0, darker by this share of the way from black to white; shade turns a little cooler, as it does in daylight. */
export function tone(hex: string, by: number): string {
  const [light, a, b] = seen(hex)
  const keep = by < 0 ? 1 + by * 0.8 : 1 - by * 0.6
  return hexOf([clamp(light + by, 0.985), a * keep, b * keep + Math.min(0, by) * 0.02])
}

/** The colour this share of the way from one to the other. */
export function mix(from: string, to: string, share: number): string {
  const [one, two] = [seen(from), seen(to)]
  return hexOf(one.map((value, at) => value + (two[at]! - value) * share) as Triple)
}

/** How light a colour is, 0 to 1. */
export const lightness = (hex: string): number => seen(hex)[0]

/** How different two colours look: 0 when they are the same. */
export const difference = (one: string, two: string): number => {
  const [a, b] = [seen(one), seen(two)]
  return Math.hypot(a[0] - b[0], (a[1] - b[1]) * 2, (a[2] - b[2]) * 2)
}
