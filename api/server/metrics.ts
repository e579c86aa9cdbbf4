/** Counts for `/metrics`, in Prometheus' text form (version 0.0.4). */
import { statfsSync } from 'node:fs'

interface Metric {
  type: 'histogram' | 'counter' | 'gauge'
  help: string
  /** The upper bounds of a histogram's buckets, in seconds. */
  bounds?: readonly number[]
}

const ANSWER_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const BUILD_SECONDS = [1, 2.5, 5, 10, 30, 60, 120, 300, 600]

/** Every metric of this release; the page about them lists them, too. */
export const METRICS = {
  stoa_request_seconds: { type: 'histogram', help: 'Time to answer a request.', bounds: ANSWER_SECONDS },
  stoa_loop_delay_seconds: {
    type: 'histogram',
    help: 'How late a timer was: nothing else ran in its process meanwhile.',
    bounds: ANSWER_SECONDS,
  },
  stoa_build_seconds: {
    type: 'histogram',
    help: 'Time of a build of a storefront, by what it was for and how it ended.',
    bounds: BUILD_SECONDS,
  },
  stoa_builds_running: { type: 'gauge', help: 'Builds of storefronts that run.' },
  stoa_builds_waiting: { type: 'gauge', help: 'Builds of storefronts that wait for their turn.' },
  stoa_jobs: { type: 'gauge', help: 'Jobs of all stores, by kind and state, as they were when all stores were last looked at.' },
  stoa_jobs_counted_seconds: { type: 'gauge', help: 'When the jobs were counted, in seconds since 1970.' },
  stoa_job_runs_total: { type: 'counter', help: 'Runs of jobs, by kind and outcome.' },
  stoa_mails_total: { type: 'counter', help: 'Mails that were handed to the mail server or a file, by outcome.' },
  stoa_disk_free_bytes: { type: 'gauge', help: 'Space of the file system of the data folder that is free.' },
  stoa_disk_size_bytes: { type: 'gauge', help: 'Size of the file system of the data folder.' },
  stoa_in_flight: { type: 'gauge', help: 'Requests that are being answered.' },
  stoa_open_stores: { type: 'gauge', help: 'Databases of stores that are open.' },
  stoa_slow_writes: { type: 'gauge', help: 'Changes that have held the database of their store for more than ten seconds.' },
  stoa_ended_writes: { type: 'gauge', help: 'Changes that were ended since the start, having done nothing for a minute.' },
  process_resident_memory_bytes: { type: 'gauge', help: 'Memory of the API processes.' },
} as const satisfies Record<string, Metric>
type Name = keyof typeof METRICS
type Labels = Readonly<Record<string, string>>

interface Series {
  count: number
  sum: number
  buckets: number[]
}
/** Values by the labels that they have; without any, under the empty text. */
type Values = Record<string, number>

/** The figures of one process, or of several. */
export interface Figures {
  histograms: Record<string, Record<string, Series>>
  counters: Record<string, Values>
  /** Each process has its own part of them. */
  gauges: Record<string, number>
  /** All processes look at the same: what was seen last counts. */
  shared: Record<string, { at: number; values: Values }>
}

const boundsOf = (name: string): readonly number[] => (METRICS as Record<string, Metric>)[name]?.bounds ?? []
const noSeries = (name: string): Series => ({ count: 0, sum: 0, buckets: boundsOf(name).map(() => 0) })

/** Labels as they stand in the text; what they say is any text. */
const written = (labels: Labels) =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`)
    .join(',')

export class Metrics {
  readonly #histograms = new Map<string, Map<string, Series>>()
  readonly #counters = new Map<string, Map<string, number>>()
  readonly #shared: Figures['shared'] = {}

  /** Counts one answered request of a route (its pattern, so that the number of series stays bounded). */
  count(method: string, route: string, status: number, seconds: number) {
    this.#observe('stoa_request_seconds', `method="${method}",route="${route}",status="${status}"`, seconds)
  }

  /** Notes how long something took. */
  observe(name: Name, labels: Labels, seconds: number) {
    this.#observe(name, written(labels), seconds)
  }

  #observe(name: Name, labels: string, seconds: number) {
    let all = this.#histograms.get(name)
    if (!all) this.#histograms.set(name, (all = new Map()))
    let series = all.get(labels)
    if (!series) all.set(labels, (series = noSeries(name)))
    series.count++
    series.sum += seconds
    const at = boundsOf(name).findIndex((bound) => seconds <= bound)
    if (at >= 0) series.buckets[at]!++
  }

  /** Counts something that has happened. */
  add(name: Name, labels: Labels) {
    let values = this.#counters.get(name)
    if (!values) this.#counters.set(name, (values = new Map()))
    const key = written(labels)
    values.set(key, (values.get(key) ?? 0) + 1)
  }

  /** Notes what every process sees alike, in the place of what was seen of it before. */
  share(name: Name, at: number, values: readonly { labels: Labels; value: number }[]) {
    this.#shared[name] = { at, values: Object.fromEntries(values.map(({ labels, value }) => [written(labels), value])) }
  }

  /** All that was counted, with gauges as they are now. */
  figures(gauges: Partial<Record<Name, number>>): Figures {
    return {
      histograms: Object.fromEntries([...this.#histograms].map(([name, all]) => [name, Object.fromEntries(all)])),
      counters: Object.fromEntries([...this.#counters].map(([name, values]) => [name, Object.fromEntries(values)])),
      gauges,
      shared: { ...this.#shared },
    }
  }
}

/** Notes the room of the file system that a folder is on; one that can't be asked has none to tell. */
export function shareDisk(metrics: Metrics, folder: string | undefined) {
  if (folder === undefined) return
  try {
    const { bavail, blocks, bsize } = statfsSync(folder)
    const at = Date.now()
    metrics.share('stoa_disk_free_bytes', at, [{ labels: {}, value: bavail * bsize }])
    metrics.share('stoa_disk_size_bytes', at, [{ labels: {}, value: blocks * bsize }])
  } catch {
    // The folder is away: `/readyz` says so.
  }
}

function addSeries(into: Record<string, Record<string, Series>>, { histograms }: Figures) {
  for (const [name, all] of Object.entries(histograms))
    for (const [labels, one] of Object.entries(all)) {
      const sum = ((into[name] ??= {})[labels] ??= noSeries(name))
      sum.count += one.count
      sum.sum += one.sum
      one.buckets.forEach((count, i) => (sum.buckets[i]! += count))
    }
}

function addValues(into: Values, values: Values) {
  for (const [labels, value] of Object.entries(values)) into[labels] = (into[labels] ?? 0) + value
}

/** What several processes tell together: sums of counters as of gauges, and what was seen last of what all of them see. */
export function total(all: Figures[]): Figures {
  const sum: Figures = { histograms: {}, counters: {}, gauges: {}, shared: {} }
  for (const figures of all) {
    addSeries(sum.histograms, figures)
    for (const [name, values] of Object.entries(figures.counters)) addValues((sum.counters[name] ??= {}), values)
    addValues(sum.gauges, figures.gauges)
    for (const [name, seen] of Object.entries(figures.shared)) if (seen.at >= (sum.shared[name]?.at ?? -Infinity)) sum.shared[name] = seen
  }
  return sum
}

const sample = (name: string, labels: string, value: number) => `${name}${labels && `{${labels}}`} ${value}`

function histogramLines(name: string, labels: string, { count, sum, buckets }: Series): string[] {
  let below = 0
  const at = (bound: string) => `${labels}${labels && ','}le="${bound}"`
  const lines = boundsOf(name).map((bound, i) => sample(`${name}_bucket`, at(String(bound)), (below += buckets[i]!)))
  return [...lines, sample(`${name}_bucket`, at('+Inf'), count), sample(`${name}_sum`, labels, sum), sample(`${name}_count`, labels, count)]
}

/** The text that Prometheus reads. */
export function exposition({ histograms, counters, gauges, shared }: Figures): string {
  const lines = Object.entries(METRICS).flatMap(([name, { type, help }]) => {
    const values = type === 'counter' ? counters[name] : (shared[name]?.values ?? (name in gauges ? { '': gauges[name]! } : {}))
    const samples =
      type === 'histogram'
        ? Object.entries(histograms[name] ?? {}).flatMap(([labels, series]) => histogramLines(name, labels, series))
        : Object.entries(values ?? {}).map(([labels, value]) => sample(name, labels, value))
    return samples.length ? [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples] : []
  })
  return `${lines.join('\n')}\n`
}
