/** The brand kit as CSS: its colours in both themes, and its fonts. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { shop } from './store.ts'

type Rgb = [number, number, number]
const rgb = (hex: string): Rgb => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)) as Rgb
const hex = (color: Rgb) => `#${color.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`
const mix = (a: Rgb, b: Rgb, share: number) => a.map((part, i) => part * (1 - share) + b[i]! * share) as Rgb
const luminance = (color: Rgb) => {
  const [r, g, b] = color.map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4)) as Rgb
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
/** WCAG 2.2: 4.5 is needed to read text. */
const contrast = (a: Rgb, b: Rgb) => {
  const [light, dark] = [luminance(a), luminance(b)].toSorted((x, y) => y - x) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}
const WHITE: Rgb = [255, 255, 255]
const BLACK: Rgb = [0, 0, 0]
/** A colour, moved towards another one until it can be read on what is behind it. */
function readable(color: Rgb, on: Rgb[], towards: Rgb): Rgb {
  for (let share = 0; share <= 1; share += 0.05) {
    const moved = mix(color, towards, share)
    if (on.every((back) => contrast(moved, back) >= 4.6)) return moved
  }
  return towards
}

interface Palette {
  background: Rgb
  surface: Rgb
  text: Rgb
  muted: Rgb
  accent: Rgb
  onAccent: Rgb
  line: Rgb
}

const { colors, fonts } = shop.looks
const own = Object.fromEntries(Object.entries(colors).map(([name, value]) => [name, rgb(value)])) as unknown as Palette
const isDark = luminance(own.background) < 0.18
const kit: Palette = {
  ...own,
  muted: readable(own.muted, [own.background, own.surface], isDark ? WHITE : BLACK),
  accent: readable(own.accent, [own.background, own.surface], isDark ? WHITE : BLACK),
  line: mix(own.background, own.text, 0.14),
}
kit.onAccent = contrast(kit.onAccent, kit.accent) >= 4.5 ? kit.onAccent : contrast(WHITE, kit.accent) >= 4.5 ? WHITE : BLACK

/** The same colours for the night: the shop's ink is the ground, its paper the ink. */
function night(): Palette {
  const background = mix(own.text, BLACK, luminance(own.text) > 0.03 ? 0.55 : 0.15)
  const surface = mix(background, WHITE, 0.06)
  const text = mix(own.background, background, 0.06)
  const accent = readable(own.accent, [background, surface], WHITE)
  return {
    background,
    surface,
    text: readable(text, [background, surface], WHITE),
    muted: readable(mix(text, background, 0.35), [background, surface], WHITE),
    accent,
    onAccent: contrast(BLACK, accent) >= contrast(WHITE, accent) ? BLACK : WHITE,
    line: mix(background, text, 0.18),
  }
}

const variables = (palette: Palette) =>
  Object.entries(palette)
    .map(([name, value]) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}:${hex(value)}`)
    .join(';')

const stacks = {
  heading: `${fonts.heading ? `"${fonts.heading}",` : ''}${/serif|fraunces|newsreader|garamond|playfair|lora|caslon|georgia/i.test(fonts.heading ?? 'serif') ? 'ui-serif,Georgia,"Times New Roman",serif' : 'ui-sans-serif,system-ui,sans-serif'}`,
  body: `${fonts.body ? `"${fonts.body}",` : ''}${/serif|newsreader|garamond|lora|georgia/i.test(fonts.body ?? '') ? 'ui-serif,Georgia,serif' : 'ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,sans-serif'}`,
}

interface FontFile {
  family: string
  file: string
  weight: string
  range: string
}
/** The font files that came with the data: those of the brand kit that Stoa has. */
const folder = join(process.env.STOA_DATA ?? './data', 'fonts')
export const fontFiles: FontFile[] = existsSync(join(folder, 'fonts.json'))
  ? JSON.parse(readFileSync(join(folder, 'fonts.json'), 'utf8'))
  : []
export const fontBytes = (file: string) => readFileSync(join(folder, file))
const faces = fontFiles
  .map(
    ({ family, file, weight, range }) =>
      `@font-face{font-family:"${family}";font-style:normal;font-display:swap;font-weight:${weight};src:url(/static/${file}) format("woff2");unicode-range:${range}}`,
  )
  .join('')

const base = readFileSync('./src/styles/shop.css', 'utf8')
/** All of the shop's CSS: 4 KB in each page, since a file of its own is one more way there and back before anything is seen. */
export const css = `${faces}:root{color-scheme:${isDark ? 'dark' : 'light dark'};--heading:${stacks.heading};--body:${stacks.body};${variables(kit)}}${isDark ? '' : `@media(prefers-color-scheme:dark){:root{${variables(night())}}}`}\n${base
  .replace(/\/\*[^]*?\*\//g, '')
  .replace(/\s+/g, ' ')
  .replace(/ ?([{};,>]) ?/g, '$1')
  .replace(/: /g, ':')}`
export const themeColor = {
  light: hex(kit.background),
  dark: hex(isDark ? kit.background : night().background),
  accent: hex(kit.accent),
  onAccent: hex(kit.onAccent),
}
