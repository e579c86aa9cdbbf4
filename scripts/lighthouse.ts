/**
 * `npm run lighthouse`: Google's Lighthouse, as on a phone, on one page of each kind of the built site. Prints the score of each category;
 * ends with 1 when one is under 100.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../api/server/config.ts'
import { findChromium } from '../site/analyses/speed/chromium.ts'
import { serveSite } from '../site/server.ts'
import { build } from './build.ts'
import { isBuilt } from './built.ts'

const LIGHTHOUSE = new URL('../node_modules/lighthouse/cli/index.js', import.meta.url).pathname
const PAGES = ['/', '/docs/getting-started/quick-start', '/blog/group-commit', '/pricing', '/docs/api-reference/products', '/scan']
const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo'] as const
const FLAGS = '--headless --no-sandbox --disable-gpu --disable-background-networking'

interface Report {
  categories: Record<(typeof CATEGORIES)[number], { score: number; auditRefs: { id: string; weight: number }[] }>
  audits: Record<string, { score: number | null; title: string; displayValue?: string }>
}

const chrome = process.env.CHROME_PATH ?? findChromium()
if (!chrome) throw new Error('no Chromium is here: install it, or set CHROME_PATH')

async function measure(url: string, folder: string): Promise<Report> {
  const file = join(folder, 'report.json')
  const child = Bun.spawn(
    [
      process.execPath,
      LIGHTHOUSE,
      url,
      '--quiet',
      '--output=json',
      `--output-path=${file}`,
      `--chrome-flags=${FLAGS}`,
      `--only-categories=${CATEGORIES}`,
    ],
    { env: { ...process.env, CHROME_PATH: chrome! }, stdout: 'ignore', stderr: 'inherit' },
  )
  if ((await child.exited) !== 0) throw new Error(`Lighthouse could not measure ${url}`)
  return JSON.parse(readFileSync(file, 'utf8')) as Report
}

if (!isBuilt()) await build()
const site = serveSite(readConfig({ SITE_PORT: '0', LOG: 'silent' }), 'http://127.0.0.1:3000')
const folder = mkdtempSync(join(tmpdir(), 'stoa-lighthouse-'))
let isWhole = true
try {
  console.log(`${'page'.padEnd(36)} ${CATEGORIES.join('  ')}`)
  for (const path of PAGES) {
    // A browser that was too slow to begin is no finding: once more then.
    const { categories, audits } = await measure(site.url + path, folder).catch(() => measure(site.url + path, folder))
    const scores = CATEGORIES.map((name) => Math.round(categories[name].score * 100))
    console.log(`${path.padEnd(36)} ${scores.map((score, i) => String(score).padStart(CATEGORIES[i]!.length)).join('  ')}`)
    for (const [i, name] of CATEGORIES.entries()) {
      if (scores[i] === 100) continue
      isWhole = false
      for (const { id, weight } of categories[name].auditRefs) {
        const { score, title, displayValue = '' } = audits[id]!
        if (weight && score !== null && score < 1) console.log(`  ${name}: ${title} ${displayValue}`)
      }
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
  await site.stop()
}
process.exit(isWhole ? 0 : 1)
