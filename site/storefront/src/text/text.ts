/** The words of the shop itself. A language without a file here has them in English: copy `en.json` to add one. */
import de from './de.json'
import en from './en.json'
import type { Language } from '../data/types.ts'

const WORDS: Record<string, Partial<typeof en>> = { en, de }
export type Key = keyof typeof en

/** The words of a language. `{name}` in them is what is passed under that name. */
export const wordsIn = ({ code }: Language) => {
  const own = WORDS[code.toLowerCase()] ?? WORDS[code.split('-')[0]!] ?? {}
  return (key: Key, values: Record<string, string | number> = {}) =>
    (own[key] ?? en[key]).replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
}

/** What a language calls itself. */
export const languageName = ({ code }: Language) => {
  const name = new Intl.DisplayNames([code], { type: 'language' }).of(code.split('-')[0]!) ?? code
  return name[0]!.toUpperCase() + name.slice(1)
}
export const dateIn = (instant: string, { code }: Language, options: Intl.DateTimeFormatOptions = { dateStyle: 'long' }) =>
  new Intl.DateTimeFormat(code, options).format(new Date(instant))

/** What a country is called in a language. */
export const countryName = (country: string, { code }: Language) =>
  new Intl.DisplayNames([code], { type: 'region', fallback: 'code' }).of(country) ?? country

/** What a time zone is called in a language, as it is at an instant: `Pacific Standard Time`. */
export const zoneName = (timeZone: string, instant: string, { code }: Language) =>
  new Intl.DateTimeFormat(code, { timeZone, timeZoneName: 'long' })
    .formatToParts(new Date(instant))
    .find(({ type }) => type === 'timeZoneName')?.value ?? timeZone
