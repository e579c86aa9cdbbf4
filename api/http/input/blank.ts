/** A text of a body without the spaces around it, null for one of nothing else; undefined for one that was left out. */
export const blank = (text: string | null | undefined) => (text === undefined ? undefined : text?.trim() || null)
