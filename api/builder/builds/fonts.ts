/** The fonts that a storefront is served with: those of the brand kit that Stoa has, and no others. */
import { readFileSync } from 'node:fs'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Reader } from '../../../db/driver.ts'
import { readLooks } from '../../store/mails/looks.ts'
import { MODULES } from './run.ts'

/** A family's packages: one weight in each file, and all weights in one. */
interface Family {
  alone: string
  all: string
}
/** Families under free licences, by the names that a brand kit gives them. */
const FAMILIES: Readonly<Record<string, Family>> = {
  'bricolage grotesque': { alone: '@fontsource/bricolage-grotesque', all: '@fontsource-variable/bricolage-grotesque' },
  fraunces: { alone: '@fontsource/fraunces', all: '@fontsource-variable/fraunces' },
  inter: { alone: '@fontsource/inter', all: '@fontsource-variable/inter' },
  'instrument sans': { alone: '@fontsource/instrument-sans', all: '@fontsource-variable/instrument-sans' },
  newsreader: { alone: '@fontsource/newsreader', all: '@fontsource-variable/newsreader' },
  'space grotesk': { alone: '@fontsource/space-grotesk', all: '@fontsource-variable/space-grotesk' },
}
/** The letters of European languages; others are shown in a font of the reader's own. */
const SUBSETS = ['latin', 'latin-ext']

interface FontFile {
  family: string
  file: string
  weight: string
  range: string
}

/** Headings have one weight: alone it is half of what all weights are. */
const ALONE = { packed: 'alone', css: '400.css', face: '400-normal' } as const
const ALL = { packed: 'all', css: 'wght.css', face: 'wght-normal' } as const

/** Writes the font files of a store's brand kit, and a list of them, to a folder. */
export async function writeFonts(folder: string, db: Reader) {
  const { fonts } = await readLooks(db)
  const list: FontFile[] = []
  await mkdir(folder, { recursive: true })
  const heading = fonts.heading === fonts.body ? null : fonts.heading
  for (const [family, form] of [
    [heading, ALONE],
    [fonts.body, ALL],
  ] as const) {
    const known = family && Object.hasOwn(FAMILIES, family.toLowerCase()) ? FAMILIES[family.toLowerCase()] : null
    if (!known) continue
    const packed = join(MODULES, known[form.packed])
    const css = readFileSync(join(packed, form.css), 'utf8')
    for (const subset of SUBSETS) {
      const face = new RegExp(`/\\* [^*]*-${subset}-${form.face} \\*/[^}]*}`).exec(css)?.[0]
      const [from, weight, range] = [/url\(\.\/files\/([^)]+)\)/, /font-weight: ([\d ]+)/, /unicode-range: ([^;]+);/].map(
        (part) => part.exec(face ?? '')?.[1],
      )
      if (!from || !range) continue
      const bytes = readFileSync(join(packed, 'files', from))
      const hash = new Bun.CryptoHasher('sha256').update(bytes).digest('hex').slice(0, 12)
      const file = from.replace(/\.woff2$/, `.${hash}.woff2`)
      await copyFile(join(packed, 'files', from), join(folder, file))
      list.push({ family: family!, file, weight: weight ?? '100 900', range })
    }
  }
  await writeFile(join(folder, 'fonts.json'), JSON.stringify(list))
}
