/** The pattern of `like … escape '\\'` for what contains `text`; `%`, `_` and `\` mean themselves. */
export const contains = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`
