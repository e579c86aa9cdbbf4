/** Scans at a door that the server has not answered yet: kept with an id each, so that whatever is sent twice counts once. Runs in browsers. */

export interface Scan {
  /** The `Idempotency-Key` of its request. */
  id: string
  token: string
  scannedAt: string
  by: string
}

/** The part of the browser's storage that is used. */
type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** Scans that wait; they outlive the page, the key does not. */
export class Scans {
  readonly #name: string

  constructor(
    readonly store: Store,
    event: string,
  ) {
    this.#name = `stoa door ${event}`
  }

  all(): Scan[] {
    try {
      return JSON.parse(this.store.getItem(this.#name) ?? '[]') as Scan[]
    } catch {
      return []
    }
  }

  #keep(scans: readonly Scan[]) {
    if (scans.length) this.store.setItem(this.#name, JSON.stringify(scans))
    else this.store.removeItem(this.#name)
  }

  /** Keeps a scan, unless it is kept already; a browser that keeps nothing more sends it all the same. */
  add(scan: Scan) {
    try {
      this.#keep([...this.all().filter(({ id }) => id !== scan.id), scan])
    } catch {
      /* its storage is full, or forbidden */
    }
  }

  remove(id: string) {
    this.#keep(this.all().filter((scan) => scan.id !== id))
  }
}

/** The token in what a camera has read, or somebody has typed: alone, or in the address of a ticket; null for other texts. */
export function tokenIn(text: string): string | null {
  const plain = text.trim()
  const [, inAddress] = /\/tickets\/attendee\/([\w-]{16,200})(?:[/?#]|$)/.exec(plain) ?? []
  return inAddress ?? (/^[\w-]{16,200}$/.test(plain) ? plain : null)
}
