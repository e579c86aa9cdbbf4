/** What the page of a review and the preview in its frame tell each other. Runs in browsers; either side trusts nothing of the other. */

/** An element that was picked, and the point in it. */
export interface Picked {
  selector: string
  /** 0 to 1, from its left and its top. */
  x: number
  y: number
  viewportWidth: number
  element: string
}

/** A pin as it is drawn. */
export interface Drawn {
  id: string
  number: number
  selector: string
  x: number
  y: number
}

/** From the preview: it has loaded a page; something was picked, or is not to be; a pin was chosen. */
export type FromFrame = { kind: 'page'; path: string } | { kind: 'picked'; pin: Picked } | { kind: 'left' } | { kind: 'chosen'; id: string }
/** To the preview: what to draw; to pick, or not; which pin to show. */
export type ToFrame = { kind: 'pins'; pins: Drawn[] } | { kind: 'pick'; on: boolean } | { kind: 'show'; id: string }

/** The longest texts that are taken over, in UTF-16 units: what the API takes. */
export const LENGTHS = { path: 2_048, selector: 500, element: 200 }

type Fields = Record<string, unknown>
const isText = (value: unknown, most: number): value is string => typeof value === 'string' && value.length > 0 && value.length <= most
const isShare = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 1

function isPicked(value: unknown): value is Picked {
  const { selector, x, y, viewportWidth, element } = (value ?? {}) as Fields
  const isPlace = isText(selector, LENGTHS.selector) && isText(element, LENGTHS.element) && isShare(x) && isShare(y)
  return isPlace && Number.isInteger(viewportWidth) && (viewportWidth as number) > 0
}

/** What the preview says; null for anything else that is posted to a window. */
export function fromFrame(data: unknown): FromFrame | null {
  if (typeof data !== 'object' || data === null) return null
  const { kind, path, pin, id } = data as Fields
  if (kind === 'page' && isText(path, LENGTHS.path) && path.startsWith('/')) return { kind, path }
  if (kind === 'picked' && isPicked(pin)) return { kind, pin }
  if (kind === 'chosen' && isText(id, 36)) return { kind, id }
  return kind === 'left' ? { kind } : null
}
