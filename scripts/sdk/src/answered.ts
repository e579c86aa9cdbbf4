/** What calls return: a promise of what the API answers, and lists that can be walked through whole. */

/** An answer with what came around it. */
export interface WithResponse<T> {
  data: T
  response: Response
  /** For `ifMatch`: what changes under it is refused with 412 when somebody was faster. */
  etag: string | null
  requestId: string | null
}

/** A promise of what the API answers; `withResponse()` gives its headers, too. */
export interface Answered<T> extends Promise<T> {
  withResponse(): Promise<WithResponse<T>>
}

/** A list: awaited, it is one page; in `for await` it is each entry of all pages. Nothing is asked for before. */
export interface List<Page, Item> extends Pick<Promise<Page>, 'then' | 'catch' | 'finally'>, AsyncIterable<Item> {
  withResponse(): Promise<WithResponse<Page>>
  /** Every entry of all pages at once. */
  all(): Promise<Item[]>
}

/** The answer of a call that is under way. */
export function answered<T>(whole: Promise<WithResponse<T>>): Answered<T> {
  const promise = whole.then(({ data }) => data)
  return Object.assign(promise, {
    withResponse() {
      // Who asks for the whole hears of a failure there: the promise of the data alone is nobody's then.
      promise.catch(() => {})
      return whole
    },
  })
}

interface Page {
  data?: unknown[]
  meta?: { count?: number; offset?: number }
  nextCursor?: string | null
  /** Of customers and their orders, instead. */
  items?: unknown[]
  pagination?: { total?: number; offset?: number }
}

/** Which page of a list is asked for. */
export interface Place {
  limit: number
  offset: number
  cursor: string
}

/** A list whose pages are asked for by `ask`. */
export function listOf<P, I>(
  ask: (place: Partial<Place>) => Promise<WithResponse<P>>,
  { kind, pageMax, offset }: { kind: 'offset' | 'cursor' | 'whole'; pageMax: number; offset: number },
): List<P, I> {
  let first: Promise<WithResponse<P>> | undefined
  const whole = () => (first ??= ask({}))
  const page = () => whole().then(({ data }) => data)
  const list: List<P, I> = {
    then: (fulfilled, rejected) => page().then(fulfilled, rejected),
    catch: (rejected) => page().catch(rejected),
    finally: (ended) => page().finally(ended),
    withResponse: whole,
    async all() {
      const entries: I[] = []
      for await (const entry of list) entries.push(entry)
      return entries
    },
    async *[Symbol.asyncIterator]() {
      // A page of the most entries, unless the call says otherwise.
      const place: Partial<Place> = pageMax ? { limit: pageMax } : {}
      // What is added while one reads moves the rest: an entry that comes twice is given once.
      const seen = new Set<unknown>()
      for (;;) {
        const { data, items, meta, pagination, nextCursor } = (await ask(place)).data as Page
        const entries = data ?? items ?? []
        for (const entry of entries as (I & { id?: unknown })[]) {
          if (entry?.id !== undefined && seen.has(entry.id)) continue
          if (entry?.id !== undefined) seen.add(entry.id)
          yield entry
        }
        if (kind === 'cursor') {
          if (!nextCursor) return
          place.cursor = nextCursor
        } else {
          const next = (meta?.offset ?? pagination?.offset ?? place.offset ?? offset) + entries.length
          if (kind === 'whole' || !entries.length || next >= (meta?.count ?? pagination?.total ?? Infinity)) return
          place.offset = next
        }
      }
    },
  }
  return list
}
