/** Diagrams: the text of a `dot` block, which agents read as it stands, drawn as SVG by Graphviz when the site is built. */
import { instance } from '@viz-js/viz'

const viz = await instance()

/** What every diagram has; its colours come from the style sheet. */
const DEFAULTS = {
  graphAttributes: { bgcolor: 'none', pad: 0.05, nodesep: 0.3, ranksep: 0.45 },
  nodeAttributes: { shape: 'box', style: 'rounded', fontname: 'Helvetica', fontsize: 14, margin: '0.16,0.08' },
  edgeAttributes: { fontname: 'Helvetica', fontsize: 12, arrowsize: 0.7 },
}

/** The text as SVG, without what only Graphviz needs; throws with its words when it is no graph. */
export function svgOf(dot: string): string {
  const { status, output, errors } = viz.render(dot, { ...DEFAULTS, format: 'svg' })
  if (status !== 'success') throw new Error(`is no diagram: ${errors.map(({ message }) => message).join('; ')}`)
  return (
    output
      .slice(output.indexOf('<svg'))
      .replace(/<!--[^]*?-->\n?/g, '')
      // The ground, which is the page's.
      .replace(/<polygon fill="none" stroke="none"[^>]*\/>\n?/, '')
      .replace(/<title>[^]*?<\/title>\n?/g, '')
      .replace(/ (id|xmlns:xlink|xml:space|font-family)="[^"]*"/g, '')
      .replace(/ (fill|stroke)="(black|none)"/g, (whole, name, colour) => (colour === 'none' && name === 'fill' ? whole : ''))
      // As wide as it is drawn, or as its page is.
      .replace(/width="(\d+)pt" height="(\d+)pt"/, 'width="$1" height="$2" aria-hidden="true"')
      .replaceAll('\n', '')
  )
}
