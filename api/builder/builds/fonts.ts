/** The fonts that a storefront is served with: those of the brand kit that Stoa has, and no others. */
import { readFileSync } from 'node:fs'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Reader } from '../../../db/driver.ts'
import { readLooks } from '../../store/mails/looks.ts'
import { MODULES } from './run.ts'

/** Families under free licences, by the names that a brand kit gives them, with their packages. */
const FAMILIES: Readonly<Record<string, string>> = {
  'bricolage grotesque': '@fontsource-variable/bricolage-grotesque',
  fraunces: '@fontsource-variable/fraunces',
  inter: '@fontsource-variable/inter',
  'instrument sans': '@fontsource-variable/instrument-sans',
  newsreader: '@fontsource-variable/newsreader',
  'space grotesk': '@fontsource-variable/space-grotesk',
}
/** The letters of European languages; others are shown in a font of the reader's own. */
const SUBSETS = ['latin', 'latin-ext']

interface FontFile {
  family: string
  file: string
  weight: string
  range: string
}

/** Writes the font files of a store's brand kit, and a list of them, to a folder. */
export async function writeFonts(folder: string, db: Reader) {
  const { fonts } = await readLooks(db)
  const list: FontFile[] = []
  await mkdir(folder, { recursive: true })
  for (const family of new Set([fonts.heading, fonts.body])) {
    const name = family && FAMILIES[family.toLowerCase()]
    if (!name) continue
    const css = readFileSync(join(MODULES, name, 'wght.css'), 'utf8')
    for (const subset of SUBSETS) {
      const face = new RegExp(`/\\* [^*]*-${subset}-wght-normal \\*/[^}]*}`).exec(css)?.[0]
      const [from, weight, range] = [/url\(\.\/files\/([^)]+)\)/, /font-weight: ([\d ]+)/, /unicode-range: ([^;]+);/].map(
        (part) => part.exec(face ?? '')?.[1],
      )
      if (!from || !range) continue
      const bytes = readFileSync(join(MODULES, name, 'files', from))
      const hash = new Bun.CryptoHasher('sha256').update(bytes).digest('hex').slice(0, 12)
      const file = from.replace(/\.woff2$/, `.${hash}.woff2`)
      await copyFile(join(MODULES, name, 'files', from), join(folder, file))
      list.push({ family: family!, file, weight: weight ?? '100 900', range })
    }
  }
  await writeFile(join(folder, 'fonts.json'), JSON.stringify(list))
}
