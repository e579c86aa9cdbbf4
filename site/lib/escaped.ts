/** Text as it stands in HTML. */
export const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
/** Text as it stands in an attribute of HTML. */
export const quoted = (text: string) => escaped(text).replaceAll('"', '&quot;')
