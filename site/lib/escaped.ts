const MARKS: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Text as it stands in HTML. */
export const escaped = (text: string) => text.replace(/[&<>]/g, (mark) => MARKS[mark]!)
/** Text as it stands in an attribute of HTML. */
export const quoted = (text: string) => text.replace(/[&<>"]/g, (mark) => MARKS[mark]!)
