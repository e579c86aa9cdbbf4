/** `npm test`: the types, the content site, then the suite. The last line is `N passed, N failed`; what follows `--` goes to Vitest. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isBuilt } from './build.ts'

interface Report {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  numTodoTests: number
  numFailedTestSuites: number
}

const bin = (name: string) => new URL(`../node_modules/.bin/${name}`, import.meta.url).pathname
const run = (...command: string[]) => Bun.spawnSync(command, { stdio: ['ignore', 'inherit', 'inherit'] }).exitCode

/** Runs Vitest and counts; a file that can't be loaded, and an error outside of any test, count as one failure at least. */
function suite(filters: string[]): { passed: number; failed: number; skipped: number } {
  const folder = mkdtempSync(join(tmpdir(), 'stoa-report-'))
  try {
    const output = join(folder, 'report.json')
    const exit = run(
      process.execPath,
      '--bun',
      bin('vitest'),
      'run',
      '--pool=threads',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${output}`,
      ...filters,
    )
    let report: Report | null = null
    try {
      report = JSON.parse(readFileSync(output, 'utf8'))
    } catch {
      /* Vitest did not get that far */
    }
    const failed = report?.numFailedTests ?? 0
    return {
      passed: report?.numPassedTests ?? 0,
      failed: exit === 0 ? failed : Math.max(1, failed),
      skipped: (report?.numPendingTests ?? 0) + (report?.numTodoTests ?? 0),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const typesFailed = run(process.execPath, bin('tsc'), '-p', '.') === 0 ? 0 : 1
if (typesFailed) console.error('the types do not check')
// The site's tests read the build, and servers that are started would each make it.
const buildFailed = isBuilt() || run(process.execPath, new URL('build.ts', import.meta.url).pathname) === 0 ? 0 : 1
let { passed, failed, skipped } = suite(process.argv.slice(2))
failed += typesFailed + buildFailed
if (skipped && process.env.CI) {
  console.error(`${skipped} skipped: in CI every test has to run`)
  failed += skipped
}
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed ? 1 : 0)
