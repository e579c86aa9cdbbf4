/** Chromium, where there is one: found, started for one measurement, ended with all that it started. */
import { spawn } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hold } from './hold.ts'

const CANDIDATES = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]
/** It says within this time where it listens. */
const START_MAX_MS = 20_000
const PAUSE_MS = 20

/** The path of a Chromium of this machine; null without one. */
export const findChromium = (): string | null =>
  CANDIDATES.map((candidate) =>
    candidate.startsWith('/') ? (existsSync(candidate) ? candidate : null) : Bun.which(candidate, { PATH: process.env.PATH }),
  ).find(Boolean) ?? null

/** Everything that a page asks for goes through the proxy at `proxyPort`: its own machine, too, and no name is looked up elsewhere. */
const flags = (profile: string, proxyPort: number, { hasSandbox }: Hold) => [
  '--headless',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-extensions',
  '--disable-sync',
  '--disable-breakpad',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--no-default-browser-check',
  '--mute-audio',
  '--disable-client-side-phishing-detection',
  '--disable-domain-reliability',
  '--disable-crash-reporter',
  '--metrics-recording-only',
  '--disable-features=OptimizationHints,OptimizationGuideModelDownloading,Translate,MediaRouter,AutofillServerCommunication,InterestFeedContentSuggestions',
  '--password-store=basic',
  '--use-mock-keychain',
  '--remote-debugging-port=0',
  `--user-data-dir=${profile}`,
  `--proxy-server=http://127.0.0.1:${proxyPort}`,
  '--proxy-bypass-list=<-loopback>',
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  '--dns-prefetch-disable',
  '--disable-quic',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  ...(hasSandbox ? [] : ['--no-sandbox']),
  'about:blank',
]

/** One that has begun: all that is needed to end it. */
export interface Begun {
  pid: number
  profile: string
  /** Its own; null: it has that of the server. */
  user: number | null
}

interface Chromium extends Begun {
  /** Where it is told what to do, on loopback. */
  port: number
}

/** How often the processes of a user are looked for: one may have begun another meanwhile. */
const LOOKS_MAX = 20

/** The processes of a user. Not by who has their folders in `/proc`: those of a sandbox are root's. */
const processesOf = (user: number) =>
  readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8')
      return Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]) === user && !/^State:\s+Z/m.test(status)
    } catch {
      return false
    }
  })

function endProcess(pid: number) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}

/** Ends a Chromium with all processes that it has started, and removes its profile. */
export function endChromium({ pid, profile, user }: Begun) {
  endProcess(-pid)
  // One that has left the group could move what is removed.
  for (let look = 0; user !== null && look < LOOKS_MAX; look++) {
    const left = processesOf(user)
    if (!left.length) break
    for (const other of left) endProcess(Number(other))
  }
  rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
}

interface Begin {
  path: string
  proxyPort: number
  hold: Hold
}

/** The folder of a Chromium, which belongs to its user. Its home is its profile: what a page downloads, and what is left when it is killed, goes with that. */
function makeProfile({ user }: Hold): { profile: string; temporary: string } {
  const profile = mkdtempSync(join(tmpdir(), 'stoa-chromium-'))
  const temporary = join(profile, 'temporary')
  mkdirSync(temporary)
  if (user !== null) for (const folder of [temporary, profile]) chownSync(folder, user, user)
  return { profile, temporary }
}

/** Starts a Chromium in a process group and with a profile of its own. `begun` is told of it before it listens. */
export async function startChromium({ path, proxyPort, hold }: Begin, begun: (chromium: Begun) => void): Promise<Chromium> {
  const { profile, temporary } = makeProfile(hold)
  const env = { PATH: process.env.PATH, LANG: 'C.UTF-8', HOME: profile, TMPDIR: temporary }
  const as = hold.user === null ? {} : { uid: hold.user, gid: hold.user }
  const child = spawn(path, flags(profile, proxyPort, hold), { ...as, detached: true, stdio: 'ignore', cwd: profile, env })
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`Chromium ended (${code})`)))
  })
  failed.catch(() => {})
  if (child.pid === undefined) await failed
  const pid = child.pid!
  const chromium = { pid, profile, user: hold.user }
  begun(chromium)
  const file = join(profile, 'DevToolsActivePort')
  const deadline = Date.now() + START_MAX_MS
  while (Date.now() < deadline) {
    const port = existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : NaN
    if (port) return { port, ...chromium }
    await Promise.race([failed, Bun.sleep(PAUSE_MS)])
  }
  throw new Error('Chromium does not begin')
}
