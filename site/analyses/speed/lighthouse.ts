/** Measuring by Lighthouse on this machine: one page at a time, for what runs beside it would be measured, too. */
import { notNow } from '../../../api/outside/not-fetched.ts'
import { Busy } from '../desk.ts'
import type { Setting } from '../messages.ts'
import { endChromium, findChromium, type Begun } from './chromium.ts'
import { isHeld } from './hold.ts'
import type { FromRunner, ToRunner } from './runner.ts'
import { SIDES, type Measured, type Provider, type SideName } from './speed.ts'

const RUNNER = new URL('runner.ts', import.meta.url).pathname
/** Pages that wait for their turn; more would wait in vain. */
const WAITING_MAX = 2
/** Who has waited this long has too little time left. */
const WAITED_MAX_MS = 50_000
/** About as long as one measurement takes. */
const TURN_SECONDS = 20
/** How long the process has to end by itself. */
const END_MAX_MS = 2_000
const PASSED_ON = ['PATH', 'HOME', 'TZ', 'TMPDIR', 'NODE_EXTRA_CA_CERTS']

/** Runs one process; whatever becomes of it, it and its Chromium have ended when this settles. */
async function run(message: ToRunner, signal: AbortSignal): Promise<Record<SideName, Measured>> {
  const sides: Partial<Record<SideName, Measured>> = {}
  let chromium: Begun | undefined
  const runner = Bun.spawn([process.execPath, RUNNER], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED_ON.includes(name))),
    serialization: 'json',
    ipc: (said: FromRunner) => {
      if ('begun' in said) chromium = said.begun
      else sides[said.name] = said.measured
    },
  })
  runner.send(message)
  let overdue: ReturnType<typeof setTimeout> | undefined
  const stop = () => {
    runner.kill('SIGTERM')
    overdue = setTimeout(() => runner.kill('SIGKILL'), END_MAX_MS)
  }
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop)
  try {
    await runner.exited
  } finally {
    clearTimeout(overdue)
    signal.removeEventListener('abort', stop)
    // Ended already, unless the process was killed before it could.
    if (chromium) endChromium(chromium)
  }
  // Time may be over after one side.
  if (signal.aborted && !Object.keys(sides).length) throw signal.reason
  const missing: Measured = { failure: signal.aborted ? 'time was over' : 'Chromium ended before it was measured' }
  return Object.fromEntries(SIDES.map((name) => [name, sides[name] ?? missing])) as Record<SideName, Measured>
}

/** A queue of its own for each installation; `isTrusted`: pages may be shown by a Chromium that nothing holds. */
export function lighthouse(setting: Setting, isTrusted: boolean): Provider {
  let last: Promise<unknown> = Promise.resolve()
  /** Who is measured for, and who waits. */
  const clients = new Set<string>()
  return {
    name: 'lighthouse',
    async measure(url, signal, client) {
      const chromium = findChromium()
      if (!chromium)
        throw notNow('status', 'there is no Chromium on this machine to measure it with: install chromium, or set PAGESPEED_URL')
      if (!isHeld(isTrusted))
        throw notNow('status', 'this server runs as root, and shows no strangers’ pages so: run it as another user, or set PAGESPEED_URL')
      // One place for each client: nobody keeps the queue full alone.
      if (clients.size > WAITING_MAX || clients.has(client)) throw new Busy(TURN_SECONDS)
      clients.add(client)
      const began = performance.now()
      const turn = last.then(() => {
        if (performance.now() - began > WAITED_MAX_MS) throw new Busy(TURN_SECONDS)
        return signal.aborted ? Promise.reject(signal.reason) : run({ url: url.href, chromium, isTrusted, setting }, signal)
      })
      last = turn.catch(() => {})
      return turn.finally(() => clients.delete(client))
    },
  }
}
