/** Bun, Node.js and Chromium, each calling the package as a user of it would. */
import { join } from 'node:path'
import { launch } from '../browser/chromium.ts'

interface Asked {
  options: { url: string; key?: string; [name: string]: unknown }
  resource: string
  method: string
  given: unknown[]
  /** Goes through all pages of a list. */
  isWalked?: boolean
}
interface Outcome {
  status?: number
  code?: string
  message?: string
  details?: unknown
  etag?: string | null
  requestId?: string | null
  type?: string | null
  data?: any
  /** An error that is not the package's own. */
  thrown?: string
}
export interface Runtime {
  call(asked: Asked): Promise<Outcome>
  close(): Promise<unknown>
}

const CALLER = join(import.meta.dirname, 'caller.mjs')

/** A process that takes a call a line. */
function lines(command: string[]): Runtime {
  const child = Bun.spawn(command, { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit', env: { PATH: process.env.PATH! } })
  const reader = child.stdout.getReader()
  let rest = ''
  const line = async () => {
    for (;;) {
      const end = rest.indexOf('\n')
      if (end >= 0) {
        const found = rest.slice(0, end)
        rest = rest.slice(end + 1)
        return found
      }
      const { value, done } = await reader.read()
      if (done) throw new Error('the runtime has ended')
      rest += new TextDecoder().decode(value)
    }
  }
  return {
    async call(asked) {
      child.stdin.write(`${JSON.stringify(asked)}\n`)
      await child.stdin.flush()
      return JSON.parse(await line()) as Outcome
    },
    async close() {
      await child.stdin.end()
      await child.exited
    },
  }
}

export const inBun = async () => lines([process.execPath, CALLER, 'lines'])
export const inNode = async () => lines(['node', CALLER, 'lines'])

/** The script of the package and its caller, as a bundler makes it for a page. */
export async function bundled(entry = CALLER): Promise<string> {
  const { outputs, success, logs } = await Bun.build({ entrypoints: [entry], target: 'browser', minify: true, format: 'esm' })
  if (!success) throw new Error(logs.join('\n'))
  return outputs[0]!.text()
}

/** A page of the same host as the API: other pages can't read its answers. `page` is its address. */
export async function inChromium(page: string): Promise<Runtime> {
  const browser = await launch()
  const tab = await browser.newPage()
  await tab.goto(page)
  await tab.waitForFunction('globalThis.callSdk !== undefined')
  return {
    call: (asked) => tab.evaluate((each) => (globalThis as any).callSdk(each), asked) as Promise<Outcome>,
    close: () => browser.close(),
  }
}
