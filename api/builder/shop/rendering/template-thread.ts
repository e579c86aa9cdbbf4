/** The thread that renders templates (renderer.ts): each page as it is asked for, from a template that is parsed once. */
import { knows, render } from './templates.ts'

/** A page to render; `text` is left out until the thread says that it does not know the template. */
export interface Asked {
  key: string
  text?: string
  view: object
}

/** The page, or what is wrong with it, and what it took of the processor. */
export type Told = { isUnknown: true } | { html: string; ms: number } | { mistake: string; ms: number }

declare const self: Worker

/** What this thread has taken of the processor. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

function told({ key, text, view }: Asked): Told {
  if (text === undefined && !knows(key)) return { isUnknown: true }
  const before = processorMs()
  try {
    return { html: render(key, () => text!, view), ms: processorMs() - before }
  } catch (error) {
    return { mistake: (error as Error).message, ms: processorMs() - before }
  }
}

self.onmessage = ({ data }: MessageEvent<Asked>) => self.postMessage(told(data) satisfies Told)
