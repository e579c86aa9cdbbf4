/** What a door decides of a code: with a line as the server says, without one as the roster that it has read. Runs in browsers. */
import type { Answer, Line, Roster, Seat } from './line.ts'
import type { Scan, Scans } from './scans.ts'

/** What is shown of a scan. */
export interface Verdict {
  isWelcome: boolean
  title: string
  text: string
  /** The one who was let in, and can be sent back. */
  token: string | null
  /** It stands on the roster alone: the server has not answered yet. */
  waits: boolean
  /** The scan that it is about, by which what the server says of it later is told. */
  scanId: string
}

/** Guests of one name that are shown. */
const FOUND_MAX = 10
const plain = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
const time = (instant: string) => new Date(instant).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
type CheckIn = Pick<Seat, 'checkedInAt' | 'checkedInBy'>
const refused = (title: string, text: string) => ({ isWelcome: false, title, text, token: null, waits: false })
const cameBefore = ({ checkedInAt, checkedInBy }: CheckIn) => `since ${time(checkedInAt!)}${checkedInBy ? `, ${checkedInBy}` : ''}`

export class Door {
  #seats = new Map<string, Seat>()
  #readAt: string | null = null
  #isSending = false
  /** Those who came, or were sent back, since the list was asked for last. */
  #meanwhile = new Map<string, CheckIn>()
  /** Scans that wait for an answer right now. */
  readonly #asking = new Set<string>()
  /** Scans whose answer was lost, of guests who were not let in: shown again, they are asked for again. */
  readonly #lost = new Map<string, Scan>()
  event = ''
  total = 0

  constructor(
    readonly line: Line,
    readonly scans: Scans,
    readonly by: string,
    /** Told what the server says of a scan that was let in without it, whatever that is. */
    readonly corrected: (verdict: Verdict) => void,
    readonly newId: () => string = () => crypto.randomUUID(),
  ) {}

  get checkedIn() {
    let count = 0
    for (const seat of this.#seats.values()) if (seat.checkedInAt !== null) count++
    return count
  }

  get waiting() {
    return this.scans.all().length
  }

  /** Reads who may come, in one piece; what happens here meanwhile holds against what was read. */
  async read(): Promise<Answer> {
    const meanwhile = (this.#meanwhile = new Map<string, CheckIn>())
    const answer = await this.line.roster()
    if (answer.kind === 'lost' || answer.status !== 200) return answer
    const { event, total, attendees } = answer.body as Roster
    this.event = event.name
    this.total = total
    this.#readAt = new Date().toISOString()
    this.#seats = new Map(attendees.flatMap((seat) => (seat.token === null ? [] : [[seat.token, seat]])))
    for (const [token, checkIn] of meanwhile) Object.assign(this.#seats.get(token) ?? {}, checkIn)
    for (const { token, scannedAt, by } of this.scans.all()) this.#note(token, scannedAt, by)
    return answer
  }

  /** Seats whose guest has a name or an address like that, at most ten: as the server knows them, without a line as they were read. */
  async named(part: string): Promise<Seat[]> {
    const wanted = plain(part.trim())
    if (!wanted) return []
    const answer = await this.line.roster(part.trim())
    const known = [...this.#seats.values()].filter(({ name, email }) => plain(`${name} ${email}`).includes(wanted))
    const found = answer.kind === 'answer' && answer.status === 200 ? (answer.body as Roster).attendees : known
    return found.slice(0, FOUND_MAX)
  }

  /** Lets the guest of a code in, or says why not. */
  async scan(token: string): Promise<Verdict> {
    const scan: Scan = this.#lost.get(token) ?? { id: this.newId(), token, scannedAt: new Date().toISOString(), by: this.by }
    this.#lost.delete(token)
    // Kept before it is sent: an answer that is lost on its way is asked for again.
    this.scans.add(scan)
    const answer = await this.#ask(scan)
    if (answer.kind === 'answer') {
      this.scans.remove(scan.id)
      return { ...this.#said(scan, answer), scanId: scan.id }
    }
    const verdict = this.#guess(scan)
    if (!verdict.isWelcome) {
      this.scans.remove(scan.id)
      this.#lost.set(token, scan)
    }
    return { ...verdict, scanId: scan.id }
  }

  async #ask(scan: Scan): Promise<Answer> {
    this.#asking.add(scan.id)
    try {
      return await this.line.checkIn(scan)
    } finally {
      this.#asking.delete(scan.id)
    }
  }

  /** Sends what waits, in its order, until the line is lost again; false when something still waits. */
  async send(): Promise<boolean> {
    if (this.#isSending) return false
    this.#isSending = true
    try {
      for (const scan of this.scans.all()) {
        if (this.#asking.has(scan.id)) continue
        const answer = await this.#ask(scan)
        // A key that has ended opens nothing, but what was let in is not forgotten.
        if (answer.kind === 'lost' || answer.status === 401 || answer.status === 403) return false
        this.scans.remove(scan.id)
        const verdict = this.#said(scan, answer)
        const text = [this.#seats.get(scan.token)?.name, verdict.text].filter(Boolean).join(': ')
        this.corrected({ ...verdict, ...(verdict.isWelcome ? {} : { title: `Let in, but: ${verdict.title}`, text }), scanId: scan.id })
      }
      return true
    } finally {
      this.#isSending = false
    }
  }

  /** Takes the last check-in of a guest back. */
  async undo(token: string): Promise<Answer> {
    const answer = await this.line.undo(token)
    const seat = this.#seats.get(token)
    if (answer.kind !== 'answer' || answer.status >= 300) return answer
    const gone = { checkedInAt: null, checkedInBy: null }
    this.#meanwhile.set(token, gone)
    if (seat) Object.assign(seat, gone)
    return answer
  }

  #note(token: string, checkedInAt: string, checkedInBy: string | null) {
    this.#meanwhile.set(token, { checkedInAt, checkedInBy })
    const seat = this.#seats.get(token)
    if (seat && seat.checkedInAt === null) Object.assign(seat, { checkedInAt, checkedInBy })
  }

  #nameOf = (token: string) => this.#seats.get(token)?.name ?? 'Welcome'

  #said({ token, scannedAt, by }: Scan, { status, body }: Extract<Answer, { kind: 'answer' }>): Omit<Verdict, 'scanId'> {
    if (status === 404) return refused('No such ticket', 'Nobody has this code, or it was given back.')
    if (status === 401 || status === 403) return refused('The key does not open this door', body?.error ?? '')
    if (status === 409 && body?.event) return refused('Another event', body.error)
    if (status !== 200) return refused('Not valid', body?.error ?? `The server said ${status}.`)
    this.#note(token, body.checkedInAt, body.checkedInBy)
    // A scan of this very moment at this very door is this one, though it was sent with another key before.
    const isOwn = body.checkedInAt === scannedAt && body.checkedInBy === by
    if (body.alreadyCheckedIn && !isOwn) return refused('Already in', `${this.#nameOf(token)}, ${cameBefore(body)}`)
    return { isWelcome: true, title: this.#nameOf(token), text: `Checked in at ${time(body.checkedInAt)}`, token, waits: false }
  }

  /** Without a line: as the roster says that was read last. */
  #guess({ token, scannedAt, by }: Scan): Omit<Verdict, 'scanId'> {
    const seat = this.#seats.get(token)
    const list = this.#readAt === null ? 'No list was read yet.' : `The list is of ${time(this.#readAt)}.`
    if (!seat) return refused('Not in the list', `There is no connection to ask. ${list}`)
    if (seat.checkedInAt !== null) return refused('Already in', `${this.#nameOf(token)}, ${cameBefore(seat)}`)
    if (seat.orderStatus === 'pending') return refused('Not paid', list)
    this.#note(token, scannedAt, by)
    return {
      isWelcome: true,
      title: this.#nameOf(token),
      text: 'Offline: kept, and sent when the connection is back',
      token: null,
      waits: true,
    }
  }
}
