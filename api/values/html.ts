/** HTML as tagged templates: every value is escaped unless it is HTML itself. */

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
/** Text as it may stand in an element or a quoted attribute. */
export const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => ENTITIES[character]!)

const CHARACTERS: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#34': '"', '#39': "'" }
/** The text of an escaped attribute, as our own pages have it. */
export const unescapeHtml = (text: string) => text.replace(/&(amp|lt|gt|quot|#34|#39);/g, (_, name: string) => CHARACTERS[name]!)

/** A piece of HTML that is safe as it stands. */
export class Html {
  constructor(readonly text: string) {}
}
export type Part = Html | string | number | null | undefined | false | readonly Part[]

const textOf = (part: Part): string => {
  if (part instanceof Html) return part.text
  if (Array.isArray(part)) return part.map(textOf).join('')
  return part === null || part === undefined || part === false ? '' : escapeHtml(String(part))
}

/** Builds HTML: html`<p>${text}</p>`; null, undefined and false are nothing, lists stand one after another. */
export const html = (texts: TemplateStringsArray, ...parts: Part[]) =>
  new Html(texts.reduce((made, text, i) => made + textOf(parts[i - 1]) + text))
