/** The language in which a buyer gets mails. */
import { Nullable, Type } from '../../http/schema.ts'
import { isLocale } from '../../values/locales.ts'
import { wrong } from '../../values/refusal.ts'

/** The field of a request that says it. */
export const MailLang = Type.Optional(
  Nullable(Type.String({ maxLength: 20, description: "The language of the order's mails, such as `pl-PL`; left out: the store's own" })),
)

/** The language that a request names; null for the store's own. */
export function mailLangOf(lang: string | null | undefined): string | null {
  if (lang && !isLocale(lang)) throw wrong('lang', 'is not a supported locale')
  return lang || null
}
