/**
 * `npm test`: the types, the content site and the suite. The last line is `N passed, N failed`; what follows `--` goes to Vitest.
 * `npm run verify`: the types, and of the suite what is quick and is about everything.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isBuilt } from './built.ts'

interface Report {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  numTodoTests: number
  numFailedTestSuites: number
}

/** Of the suite, for `npm run verify`: the house's rules, the pure rules, and what is asked of every operation. */
const QUICK = [
  'test/tidy.test.ts',
  'test/schema.test.ts',
  'test/config.test.ts',
  'test/catalog/money.test.ts',
  'test/catalog/slug.test.ts',
  'test/checkout/price.test.ts',
  'test/checkout/stripe-amount.test.ts',
  // Without fifty made-up requests to each operation, and a linter that takes as long as all of these.
  ...readdirSync(new URL('../test/contract', import.meta.url))
    .filter((file) => file.endsWith('.test.ts') && !/^(fuzz|openapi)\./.test(file))
    .map((file) => `test/contract/${file}`),
]

/** The built package of `scripts/sdk`. */
const SDK = new URL('sdk/package/dist', import.meta.url).pathname

const bin = (name: string) => new URL(`../node_modules/.bin/${name}`, import.meta.url).pathname
/** Runs a command to its end; gives how it ended. */
const run = (...command: string[]) => Bun.spawn(command, { stdio: ['ignore', 'inherit', 'inherit'] }).exited

/** Runs Vitest and counts; a file that can't be loaded, and an error outside of any test, count as one failure at least. */
async function suite(filters: string[]): Promise<{ passed: number; failed: number; skipped: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'stoa-report-'))
  try {
    const output = join(folder, 'report.json')
    const exit = await run(
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

const [first, ...rest] = process.argv.slice(2)
const isQuick = first === '--quick'
// Programs of the pages and of the tests import it, and are checked against its types.
const sdk = isQuick && existsSync(SDK) ? 0 : await run(process.execPath, new URL('sdk/build.ts', import.meta.url).pathname)
// Beside the rest, which leaves a core idle now and then.
const types = run(process.execPath, bin('tsc'), '-p', '.')
// The site's tests read the build, and servers that are started would each make it.
const build = isQuick || isBuilt() ? 0 : await run(process.execPath, new URL('build.ts', import.meta.url).pathname)
let { passed, failed, skipped } = await suite(isQuick ? [...QUICK, ...rest] : process.argv.slice(2))
if (build !== 0) failed++
if (sdk !== 0) failed++
if ((await types) !== 0) {
  console.error('the types do not check')
  failed++
}
if (skipped && process.env.CI) {
  console.error(`${skipped} skipped: in CI every test has to run`)
  failed += skipped
}
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed ? 1 : 0)
