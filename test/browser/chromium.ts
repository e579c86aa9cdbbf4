/** Chromium, and axe in its pages. A machine without Chromium can run the other tests; CI installs it, and fails on what is skipped. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { chromium, type Page } from 'playwright-core'

const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium'
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export const hasChromium = existsSync(EXECUTABLE)
export const launch = (more: readonly string[] = []) =>
  chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', ...more] })

export type Theme = 'light' | 'dark'
export const THEMES: readonly Theme[] = ['light', 'dark']

interface Violation {
  id: string
  nodes: { html: string }[]
}

/** What axe minds in a page as it is shown in a theme; `but`: rules that are not looked at. */
export async function violationsOf(page: Page, theme: Theme, but: readonly string[] = []): Promise<string[]> {
  await page.emulateMedia({ colorScheme: theme })
  // Evaluated from outside: the policies of the pages let no foreign script in.
  await page.evaluate(AXE)
  const violations = await page.evaluate<Violation[]>(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)`)
  return violations
    .filter(({ id }) => !but.includes(id))
    .map(({ id, nodes }) => `${theme}: ${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 120))}`)
}
