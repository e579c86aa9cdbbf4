/** Text as it stands in HTML. */
export const escaped = (text: string) =>
  // Most texts, the words of code above all, have none.
  /[&<>]/.test(text) ? text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;') : text
/** Text as it stands in an attribute of HTML. */
export const quoted = (text: string) => escaped(text).replaceAll('"', '&quot;')
