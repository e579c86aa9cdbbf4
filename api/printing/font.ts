/** The letters of what is printed: DejaVu Sans Condensed, which has all of Latin, Greek and Cyrillic and may be embedded anywhere. */
import { createRequire } from 'node:module'
import anyAscii from 'any-ascii'
import * as fontkit from 'fontkit'
import { normal } from '../values/compared.ts'

/** The part of fontkit's fonts that is used. */
interface Font {
  unitsPerEm: number
  hasGlyphForCodePoint(codePoint: number): boolean
  /** The outline in font units, upwards. */
  glyphForCodePoint(codePoint: number): { advanceWidth: number; path: { toSVG(): string } }
}

const { resolve } = createRequire(import.meta.url)
export const FONT_FILES = {
  regular: resolve('dejavu-fonts-ttf/ttf/DejaVuSansCondensed.ttf'),
  bold: resolve('dejavu-fonts-ttf/ttf/DejaVuSansCondensed-Bold.ttf'),
}
const regular = fontkit.openSync(FONT_FILES.regular) as unknown as Font
const bold = fontkit.openSync(FONT_FILES.bold) as unknown as Font

const faceOf = (isBold: boolean) => (isBold ? bold : regular)
/** Scripts that are printed as they are written: from left to right, a letter beside the other. */
const PLAIN = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Common}\p{Script=Inherited}]$/u
/** Control characters, and marks that steer text without being seen. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}]+/gu

/** Text as paper can show it, on one line: what the font lacks is transliterated. */
export function printable(text: string): string {
  const plain = (letter: string) => {
    const codePoint = letter.codePointAt(0)!
    return PLAIN.test(letter) && regular.hasGlyphForCodePoint(codePoint) && bold.hasGlyphForCodePoint(codePoint) ? letter : anyAscii(letter)
  }
  return [...normal(text).replace(UNSEEN, ' ')].map(plain).join('').replace(/\s+/g, ' ').trim()
}

/** How wide a text is, in its own size. */
export function widthOf(text: string, isBold: boolean): number {
  const font = faceOf(isBold)
  let width = 0
  for (const letter of text) width += font.glyphForCodePoint(letter.codePointAt(0)!).advanceWidth
  return width / font.unitsPerEm
}

/** The outlines of a text's letters as SVG paths, each with where it begins, in font units. */
export function outlinesOf(text: string, isBold: boolean): { unitsPerEm: number; letters: { at: number; path: string }[] } {
  const font = faceOf(isBold)
  let at = 0
  const letters = [...text].map((letter) => {
    const { advanceWidth, path } = font.glyphForCodePoint(letter.codePointAt(0)!)
    const outline = { at, path: path.toSVG() }
    at += advanceWidth
    return outline
  })
  return { unitsPerEm: font.unitsPerEm, letters }
}
