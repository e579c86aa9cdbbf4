/** `GET /api/pagespeed`: a page measured as on a phone and as on a computer, by Google's service or by Lighthouse here. */
import { until, workingTime } from '../../../api/outside/fetch-public.ts'
import { notNow } from '../../../api/outside/not-fetched.ts'
import type { Places } from '../../../api/outside/public-places.ts'
import { OPERATIONS } from '../operations.ts'
import type { FieldData, Side } from './results.ts'

export const SIDES = ['mobile', 'desktop'] as const
export type SideName = (typeof SIDES)[number]

/** One side that was measured, or why it was not. `isOfSite`: the field data is that of all its pages. */
export type Measured = { side: Side; version: string | null; fieldData: FieldData | null; isOfSite: boolean } | { failure: string }

/** What measures for a client. Throws `NotFetched` where nothing can be, `Busy` where it has too much to do. */
export interface Provider {
  name: 'pagespeed-insights' | 'lighthouse'
  measure(url: URL, signal: AbortSignal, client: string): Promise<Record<SideName, Measured>>
}

interface PageSpeed {
  url: string
  /** ISO 8601. */
  fetchedAt: string
  provider: Provider['name']
  lighthouseVersion: string | null
  mobile: Side | null
  desktop: Side | null
  fieldData: FieldData | null
  warnings: string[]
}

/** Makes the function that measures pages that may be asked for. */
export const pageSpeed =
  (places: Places, provider: Provider) =>
  async (url: URL, asked: AbortSignal, client: string): Promise<PageSpeed> => {
    const { signal, over } = workingTime(OPERATIONS.pagespeed.maxMs, asked)
    try {
      // Before it is handed to anybody else: where its name leads.
      await until(signal, places.addressesOf(url))
      const fetchedAt = new Date().toISOString()
      const sides = await provider.measure(url, signal, client)
      const measured = SIDES.flatMap((name) => ('side' in sides[name] ? sides[name] : []))
      const failures = SIDES.flatMap((name) => ('failure' in sides[name] ? { name, failure: sides[name].failure } : []))
      if (!measured.length) throw notNow('status', `it could not be measured: ${failures[0]!.failure}`)
      return {
        url: url.href,
        fetchedAt,
        provider: provider.name,
        lighthouseVersion: measured[0]!.version,
        mobile: 'side' in sides.mobile ? sides.mobile.side : null,
        desktop: 'side' in sides.desktop ? sides.desktop.side : null,
        fieldData: measured.find(({ fieldData }) => fieldData)?.fieldData ?? null,
        warnings: [
          ...(measured.some(({ isOfSite }) => isOfSite)
            ? ['Too few visitors have been to this page: field data is that of its whole site.']
            : []),
          ...failures.map(({ name, failure }) => `Not measured as on a ${name === 'mobile' ? 'phone' : 'computer'}: ${failure}.`),
        ],
      }
    } finally {
      over()
    }
  }
