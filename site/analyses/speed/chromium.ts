/** Chromium, where there is one: found, started for one measurement, ended with all that it started. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

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
const flags = (profile: string, proxyPort: number) => [
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
  // The sandbox needs a user of its own: it refuses to start as root.
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  'about:blank',
]

export interface Chromium {
  /** Where it is told what to do, on loopback. */
  port: number
  pid: number
  profile: string
}

/** Ends a Chromium with all processes that it has started, and removes its profile. */
export function endChromium({ pid, profile }: Pick<Chromium, 'pid' | 'profile'>) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
  rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
}

/** Starts a Chromium in a process group and with a profile of its own. `begun` is told of it before it listens. */
export async function startChromium(
  path: string,
  proxyPort: number,
  begun: (chromium: Pick<Chromium, 'pid' | 'profile'>) => void,
): Promise<Chromium> {
  const profile = mkdtempSync(join(tmpdir(), 'stoa-chromium-'))
  // Its home is its profile: what a page downloads, and what it leaves elsewhere when it is killed, goes with that.
  const temporary = join(profile, 'temporary')
  mkdirSync(temporary)
  const env = { PATH: process.env.PATH, LANG: 'C.UTF-8', HOME: profile, TMPDIR: temporary }
  const child = spawn(path, flags(profile, proxyPort), { detached: true, stdio: 'ignore', env })
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`Chromium ended (${code})`)))
  })
  failed.catch(() => {})
  if (child.pid === undefined) await failed
  const pid = child.pid!
  begun({ pid, profile })
  const file = join(profile, 'DevToolsActivePort')
  const deadline = Date.now() + START_MAX_MS
  while (Date.now() < deadline) {
    const port = existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : NaN
    if (port) return { port, pid, profile }
    await Promise.race([failed, Bun.sleep(PAUSE_MS)])
  }
  throw new Error('Chromium does not begin')
}
