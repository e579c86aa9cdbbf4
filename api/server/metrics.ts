/** Counts for `/metrics`, in Prometheus' text form (version 0.0.4). */

const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

interface Series {
  count: number
  sum: number
  buckets: number[]
}

/** The counts of one process, or of several: histograms by their labels, and gauges by their names. */
export interface Figures {
  series: Record<string, Series>
  gauges: Record<string, number>
}

export class Metrics {
  readonly #series = new Map<string, Series>()

  /** Counts one answered request of a route (its pattern, so that the number of series stays bounded). */
  count(method: string, route: string, status: number, seconds: number) {
    const labels = `method="${method}",route="${route}",status="${status}"`
    let series = this.#series.get(labels)
    if (!series) this.#series.set(labels, (series = noSeries()))
    series.count++
    series.sum += seconds
    const at = BUCKETS_SECONDS.findIndex((bound) => seconds <= bound)
    if (at >= 0) series.buckets[at]!++
  }

  /** All that was counted, with gauges as they are now. */
  figures(gauges: Record<string, number>): Figures {
    return { series: Object.fromEntries(this.#series), gauges }
  }
}

const noSeries = (): Series => ({ count: 0, sum: 0, buckets: BUCKETS_SECONDS.map(() => 0) })

/** The sum of what several processes have counted: of counters as of gauges. */
export function total(all: Figures[]): Figures {
  const sum: Figures = { series: {}, gauges: {} }
  for (const { series, gauges } of all) {
    for (const [labels, one] of Object.entries(series)) {
      const into = (sum.series[labels] ??= noSeries())
      into.count += one.count
      into.sum += one.sum
      one.buckets.forEach((count, i) => (into.buckets[i]! += count))
    }
    for (const [name, value] of Object.entries(gauges)) sum.gauges[name] = (sum.gauges[name] ?? 0) + value
  }
  return sum
}

/** The text that Prometheus reads. */
export function exposition({ series, gauges }: Figures): string {
  const lines = ['# HELP stoa_request_seconds Time to answer a request.', '# TYPE stoa_request_seconds histogram']
  for (const [labels, { count, sum, buckets }] of Object.entries(series)) {
    let below = 0
    BUCKETS_SECONDS.forEach((bound, i) => {
      below += buckets[i]!
      lines.push(`stoa_request_seconds_bucket{${labels},le="${bound}"} ${below}`)
    })
    lines.push(
      `stoa_request_seconds_bucket{${labels},le="+Inf"} ${count}`,
      `stoa_request_seconds_sum{${labels}} ${sum}`,
      `stoa_request_seconds_count{${labels}} ${count}`,
    )
  }
  for (const [name, value] of Object.entries(gauges)) lines.push(`# TYPE ${name} gauge`, `${name} ${value}`)
  return `${lines.join('\n')}\n`
}
