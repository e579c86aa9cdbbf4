/** A chart of rates: a dot for each variant on a logarithmic axis with labels. No bars: their length would mean nothing there. */
import type { Row } from './measured.ts'
import { escaped, quoted } from './escaped.ts'

const WIDTH = 680
const LEFT = 250
const RIGHT = 70
const ROW = 26
const AXIS = 34

const written = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })

/** The rows of one call as SVG; the axis goes from a power of ten below the slowest to one above the fastest. */
export function chartOf(rows: readonly Row[]): string {
  const rates = rows.map(({ perSecond }) => perSecond)
  const [low, high] = [Math.floor(Math.log10(Math.min(...rates))), Math.ceil(Math.log10(Math.max(...rates)))]
  const at = (rate: number) => LEFT + ((Math.log10(rate) - low) / (high - low)) * (WIDTH - LEFT - RIGHT)
  const height = rows.length * ROW + AXIS
  const powers = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i))
  const axis = powers.map((power) => {
    const x = at(power).toFixed(1)
    return `<path class="grid" d="M${x} 0V${height - AXIS + 6}"/><text class="tick" x="${x}" y="${height - 12}">${written.format(power)}/s</text>`
  })
  const dots = rows.map(({ system, variant, perSecond }, i) => {
    const y = i * ROW + ROW / 2
    const x = at(perSecond)
    return `<text class="name" x="${LEFT - 12}" y="${y + 4}">${escaped(`${system}, ${variant}`)}</text><circle class="${system}" cx="${x.toFixed(1)}" cy="${y}" r="6"/><text class="value" x="${(x + 12).toFixed(1)}" y="${y + 4}">${written.format(perSecond)}</text>`
  })
  const said = rows.map(({ system, variant, perSecond }) => `${system}, ${variant}: ${written.format(perSecond)} a second`).join('; ')
  return `<div class="chart" role="img" aria-label="${quoted(said)}"><svg viewBox="0 0 ${WIDTH} ${height}" aria-hidden="true">${axis.join('')}${dots.join('')}</svg></div>`
}
