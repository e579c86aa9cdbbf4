/** Locales as the API takes them: `pl-PL`. */
const LOCALE = /^[a-z]{2,3}-[A-Z]{2}$/
const known = new Map<string, boolean>()
let languages: Intl.DisplayNames | undefined
let regions: Intl.DisplayNames | undefined

/** Stands for no region in particular, or for none that exists (CLDR). */
const NO_REGION = /^(ZZ|Q[M-Z]|X[A-JL-Z])$/

/** Whether a text is a locale whose language and region exist (CLDR), in its canonical form: `en-US`, not `eng-US`. */
export function isLocale(text: string): boolean {
  if (!LOCALE.test(text)) return false
  const remembered = known.get(text)
  if (remembered !== undefined) return remembered
  languages ??= new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })
  regions ??= new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  const [language, region] = text.split('-') as [string, string]
  const found =
    languages.of(language) !== undefined &&
    regions.of(region) !== undefined &&
    !NO_REGION.test(region) &&
    Intl.getCanonicalLocales(text)[0] === text
  if (known.size < 10_000) known.set(text, found)
  return found
}
