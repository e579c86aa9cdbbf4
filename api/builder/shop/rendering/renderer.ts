/**
 * Pages that are filled in for visitors, rendered in a thread of their own: templates are what authors of projects wrote, and while one is
 * parsed or rendered nobody else may wait. Stores take turns; each may take so much of the thread.
 */
import { Overdue, Thread } from '../../../server/thread.ts'
import { Refusal } from '../../../values/refusal.ts'
import { RenderBudget } from './render-budget.ts'
import type { Asked, Told } from './template-thread.ts'

const FILE = new URL('./template-thread.ts', import.meta.url).pathname
/** A page has its own limit of 100 ms, or of a second on a busy machine: what takes longer is held up by something else. */
const BOUNDS = { timeMaxMs: 3_000, idleMaxMs: 60_000 }
/** Pages that wait: of all stores, and of one. */
const [WAITING_MAX, WAITING_PER_STORE_MAX] = [500, 100]

interface Page {
  /** Names the template: another text has another one. */
  key: string
  text(): string
  view: object
}
interface Waiting extends Page {
  resolve(html: string): void
  reject(error: unknown): void
}

const busy = () => new Refusal(503, 'too many pages of shops are being made', {}, { 'retry-after': '1' })

export class Renderer {
  readonly #thread = new Thread<Asked, Told>(FILE, BOUNDS)
  readonly #budget = new RenderBudget()
  /** Pages by store; the store whose turn it is stands first. */
  readonly #waiting = new Map<string, Waiting[]>()
  #count = 0
  #isWorking = false

  /** A page of a store. Throws a `Refusal` when the store has taken too much or too many wait, and an error when its template is wrong. */
  async render(storeId: string, page: Page): Promise<string> {
    this.#budget.require(storeId)
    const own = this.#waiting.get(storeId) ?? []
    if (this.#count >= WAITING_MAX || own.length >= WAITING_PER_STORE_MAX) throw busy()
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    own.push({ ...page, resolve, reject })
    this.#waiting.set(storeId, own)
    this.#count++
    void this.#work()
    return promise
  }

  /** Renders what waits, one page after the other. */
  async #work() {
    if (this.#isWorking) return
    this.#isWorking = true
    try {
      for (let next = this.#next(); next; next = this.#next()) {
        const { storeId, page } = next
        await this.#made(storeId, page).then(page.resolve, page.reject)
      }
    } finally {
      this.#isWorking = false
    }
  }

  /** The next page; its store stands behind the others then. */
  #next(): { storeId: string; page: Waiting } | null {
    const [first] = this.#waiting
    if (!first) return null
    const [storeId, pages] = first
    const page = pages.shift()!
    this.#count--
    this.#waiting.delete(storeId)
    if (pages.length) this.#waiting.set(storeId, pages)
    return { storeId, page }
  }

  async #made(storeId: string, { key, text, view }: Page): Promise<string> {
    try {
      let told = await this.#thread.ask({ key, view })
      if ('isUnknown' in told) told = await this.#thread.ask({ key, text: text(), view })
      if ('isUnknown' in told) throw new Error('the template is not there')
      this.#budget.note(storeId, told.ms)
      if ('html' in told) return told.html
      throw new Error(told.mistake)
    } catch (error) {
      if (error instanceof Overdue) this.#budget.note(storeId, BOUNDS.timeMaxMs)
      throw error
    }
  }
}
