/** What a preview's host adds to its pages, so that elements of them can be picked in a review. */
import { escapeHtml } from '../../values/html.ts'

/** Where the script is, on the hosts of previews alone. */
export const FRAME_SCRIPT = '/_shop/review.js'

/** A page with the script, and with the one origin that it speaks with. */
export function withFrameScript(html: string, origin: string): string {
  const script = `<script src="${FRAME_SCRIPT}" data-origin="${escapeHtml(origin)}" defer></script>`
  const at = html.indexOf('</head>')
  return at < 0 ? html + script : html.slice(0, at) + script + html.slice(at)
}
