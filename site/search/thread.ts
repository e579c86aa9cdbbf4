/** The thread that searches, one question after the other: what a question costs holds no page, and what it can't end is ended with it. */
import { Search } from '../lib/search.ts'

/** First where the index is, then one question at a time. */
export type ToThread = { index: string } | { text: string; limit: number }
/** What was found, as JSON; or what went wrong. */
export type FromThread = { found: string } | { defect: string }

let search: Search | undefined
const tell = (message: FromThread) => postMessage(message)

self.addEventListener('message', ({ data }: MessageEvent<ToThread>) => {
  if ('index' in data) return void (search = new Search(data.index))
  try {
    tell({ found: JSON.stringify(search!.find(data.text, data.limit)) })
  } catch (error) {
    tell({ defect: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
})
