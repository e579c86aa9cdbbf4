/**
 * The first minutes of a stranger: the commands of the home page and the pastes of the quick start, typed as they stand there into a folder
 * that has nothing, down to a paid order and a shop in a browser; then the README's purchase. It runs by itself, when nothing else does.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { hasChromium, launch } from '../browser/chromium.ts'
import { Running } from '../running/processes.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const TWO_MINUTES_MS = 120_000
const folder = mkdtempSync(join(tmpdir(), 'stoa-first-'))
let server: Running | undefined
afterAll(async () => {
  // npm and what it started end together.
  if (server?.child.exitCode === null) process.kill(-server.child.pid!, 'SIGTERM')
  await server?.ended
  rmSync(folder, { recursive: true, force: true })
})

/** What a shell does that somebody has just opened: no project's programs are on its path. */
const PATH = process.env
  .PATH!.split(':')
  .filter((place) => !place.includes('node_modules'))
  .join(':')
async function typed(command: string, cwd: string, input?: Uint8Array): Promise<string> {
  const child = Bun.spawn(['bash', '-euo', 'pipefail', '-c', command], {
    cwd,
    stdin: input ?? 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { PATH, HOME: process.env.HOME!, USER: 'reader' },
  })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect([command, await child.exited, stderr]).toEqual([command, 0, stderr])
  return stdout
}

/** A repository of what is here, as others clone it: its project.json says where it is. */
async function publish(): Promise<string> {
  const repository = join(folder, 'repository.git')
  const git = `git --git-dir=${repository} --work-tree=${ROOT}`
  await typed(`git init -q --bare ${repository}; ${git} -c core.bare=false add -A`, ROOT)
  const project = { ...JSON.parse(readFileSync(`${ROOT}/content/project.json`, 'utf8')), repository }
  const blob = (await typed(`${git} hash-object -w --stdin`, ROOT, Buffer.from(JSON.stringify(project)))).trim()
  await typed(`${git} update-index --cacheinfo 100644,${blob},content/project.json`, ROOT)
  await typed(`git --git-dir=${repository} -c user.name=a -c user.email=a@b -c core.bare=false --work-tree=${ROOT} commit -qm Stoa`, ROOT)
  return repository
}

/** The blocks of a language in a page, as readers copy them. */
async function blocksOf(url: string, language: string): Promise<string[]> {
  const html = await (await fetch(url)).text()
  return [...html.matchAll(new RegExp(`<code class="language-${language}">([^]*?)</code>`, 'g'))].map(([, code]) =>
    code!
      .replace(/<[^>]+>/g, '')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&'),
  )
}
const commandsIn = (terminal: string) => terminal.split('\n').flatMap((line) => (line.startsWith('$ ') ? [line.slice(2)] : []))

test.skipIf(!hasChromium)(
  'the home page leads from an empty folder to a paid order and an open shop in two minutes, and the quick start is one script',
  async () => {
    const repository = await publish()
    const begin = performance.now()
    await typed(`git clone -q ${repository} stoa`, folder)
    const clone = join(folder, 'stoa')
    const env = { PATH, HOME: process.env.HOME!, API_PORT: '0', SITE_PORT: '0', LOG: 'silent' }
    const started = new Running(spawn('npm', ['start'], { cwd: clone, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] }))
    server = started
    const says = async (pattern: RegExp) => {
      for (;;) {
        const found = pattern.exec(started.stdout)
        if (found) return found[1]!
        if (started.child.exitCode !== null || performance.now() - begin > 2 * TWO_MINUTES_MS)
          throw new Error(`it does not say ${pattern}: ${started.stdout}${started.stderr}`)
        await Bun.sleep(50)
      }
    }
    const pasted = await says(/^ {2}(export STORE_URL=.+)$/m)
    const bought = await typed(`${pasted}\nnpm run -s stoa -- buy`, clone)
    expect(bought).toMatch(/^Order \d+ is paid: \$\d+\.\d\d$/m)
    expect(bought.match(/^\$ curl (-X \w+ )?(\\\n  )?"\$STORE_URL\/api\/v1\//gm)).toHaveLength(4)
    const shop = await says(/^Demo shop is open {2}(\S+)$/m)
    const browser = await launch()
    try {
      const page = await browser.newPage()
      await page.goto(shop)
      expect(await page.locator('main h1').isVisible()).toBe(true)
      expect(performance.now() - begin).toBeLessThan(TWO_MINUTES_MS)
    } finally {
      await browser.close()
    }

    // What was typed is what the home page says, and what came is what it shows.
    const site = await says(/^Content site {2}(\S+)$/m)
    const [starting = '', buying = ''] = await blocksOf(site, 'console')
    expect(commandsIn(starting)).toEqual([`git clone ${repository} stoa && cd stoa`, 'npm start'])
    const shown = (text: string) =>
      text
        .replace(/:\d{4,5}\b/g, ':0')
        .replace(/sk-[\w…]+/g, 'sk-')
        .split('\n')
    expect(shown(started.stdout)).toEqual(expect.arrayContaining(shown(starting).filter((line) => !line.startsWith('$ '))))
    expect(commandsIn(buying)[0]).toBe('npm run -s stoa -- buy')
    /** What differs from one start to the next: the numbers, the product, and where it is served. */
    const alike = (text: string) =>
      text
        .replace(/\$?\b\d[\d.]*\b/g, '0')
        .replace(/dearest .+$/gm, 'dearest')
        .split('\n')
        .filter((line) => line && line !== '…')
    expect(alike(bought)).toEqual(expect.arrayContaining(alike(buying).slice(1)))

    const [, ...pastes] = await blocksOf(`${site}/docs/getting-started/quick-start`, 'sh')
    expect([pastes.length, pastes[0]!.startsWith('export STORE_URL=')]).toEqual([5, true])
    const script = [pasted, ...pastes.slice(1)].join('\n')
    const said = await typed(script, clone)
    expect(said).toContain('"status":"paid"')
    const merchants = JSON.parse(said.slice(said.lastIndexOf('{"data":[')))
    expect(merchants.data[0]).toMatchObject({ status: 'paid', customer: { email: 'ada@example.com' } })

    // The README has a purchase of its own.
    const storefront = /STOREFRONT_KEY=(\S+)/.exec(pasted)![1]!
    const written = [...readFileSync(`${clone}/README.md`, 'utf8').matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block]) => block).join('\n')
    const address = /STORE_URL=(\S+)/.exec(pasted)![1]!
    const readme = await typed(written.replace('http://127.0.0.1:3000', address).replace('sk-…', storefront), clone)
    const { order, payment } = JSON.parse(readme.slice(readme.lastIndexOf('{"order"')))
    expect(order).toMatchObject({ status: 'paid', paymentStatus: 'paid', lines: [{ quantity: 1 }], shipping: { name: 'Standard' } })
    expect(payment).toMatchObject({ method: 'test', status: 'succeeded', amountCents: order.totalCents })
  },
  4 * TWO_MINUTES_MS,
)
