/** The requests of a door to the API; a line that is bad is an answer, too. Runs in browsers. */
import type { Scan } from './scans.ts'

/** A seat as the roster has it. */
export interface Seat {
  token: string | null
  name: string | null
  email: string
  orderStatus: string
  checkedInAt: string | null
  checkedInBy: string | null
}
export interface Roster {
  event: { name: string; slug: string }
  total: number
  checkedIn: number
  attendees: Seat[]
}

/** An answer: `lost` when there was none, or one that says to come back later. */
export type Answer = { kind: 'lost' } | { kind: 'answer'; status: number; body: any }

const WAIT_MS = 5_000
const ROSTER_WAIT_MS = 30_000

export class Line {
  constructor(
    readonly event: string,
    readonly key: string,
  ) {}

  async #ask(
    method: string,
    path: string,
    waitMs: number,
    more: { body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    try {
      const response = await fetch(`/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json', ...more.headers },
        body: more.body === undefined ? undefined : JSON.stringify(more.body),
        signal: AbortSignal.timeout(waitMs),
        cache: 'no-store',
        referrerPolicy: 'no-referrer',
      })
      if (response.status === 429 || response.status >= 500) return { kind: 'lost' }
      return { kind: 'answer', status: response.status, body: await response.json() }
    } catch {
      return { kind: 'lost' }
    }
  }

  /** The roster as it is at one moment; or those whose name or address has `query` in it. */
  roster = (query?: string) => {
    const search = query === undefined ? '' : `?limit=10&query=${encodeURIComponent(query)}`
    return this.#ask('GET', `/events/${encodeURIComponent(this.event)}/checkins${search}`, ROSTER_WAIT_MS)
  }

  checkIn = ({ id, token, scannedAt, by }: Scan) =>
    this.#ask('POST', `/tickets/attendee/${token}/checkin`, WAIT_MS, {
      body: { by, scannedAt, event: this.event },
      headers: { 'idempotency-key': id },
    })

  undo = (token: string) => this.#ask('DELETE', `/tickets/attendee/${token}/checkin`, WAIT_MS)
}
