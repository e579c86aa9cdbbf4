/** What pages say of the command line and of releases, beside the command line and the release. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { afterAll, expect, test } from 'vitest'
import { version } from '../../package.json'
import { readPages } from '../../site/lib/content.ts'
import { folderFor } from '../folder.ts'

const { pages } = readPages(new URL('../..', import.meta.url).pathname)
const current = pages.filter(({ kind }) => kind === 'docs' || kind === 'help')

const program = new Command('stoa').option('--json')
const folder = new URL('../../scripts/stoa/', import.meta.url).pathname
for (const name of readdirSync(folder))
  for (const [what, add] of Object.entries(await import(join(folder, name))))
    if (/Commands?$/.test(what)) (add as (to: Command) => void)(program)

/** What the command line would mind of the words behind `stoa`; null when it knows them all. */
function unknownIn(line: string): string | null {
  // What stands in quotes is a value, and may look like anything.
  const words = line
    .replace(/\s#.*$|[|>].*$/g, '')
    .replace(/(['"])(?:(?!\1).)*\1/g, 'VALUE')
    .split(/\s+/)
    .filter(Boolean)
  let at = program
  while (words[0] && at.commands.length) {
    const next = at.commands.find((command) => command.name() === words[0])
    if (!next && words[0] === '…') return null
    if (!next) return `there is no command ${words[0]}`
    at = next
    words.shift()
  }
  const options = [...program.options, ...at.options]
  const named = words.flatMap((word) => /^--[a-z-]+/.exec(word) ?? [])
  return named.filter((name) => !options.some(({ long }) => long === name)).map((name) => `${at.name()} has no ${name}`)[0] ?? null
}

/** The words behind `stoa --` in commands, and behind `stoa` in code within text. */
const commandsOf = (body: string) => [
  ...[...body.replace(/\\\n\s*/g, ' ').matchAll(/npm run -s stoa -- ([^\n`]+)/g)].map(([, words]) => words!),
  ...[...body.matchAll(/`stoa ([a-z][^`\n]*)`/g)].map(([, words]) => words!),
]

test('each command that a page shows is there, with its options', () => {
  const shown = current.flatMap(({ file, body }) => commandsOf(body).map((words) => ({ file, words })))
  const wrong = shown.map(({ file, words }) => ({ file, words, problem: unknownIn(words) })).filter(({ problem }) => problem)
  expect(wrong).toEqual([])
  expect(shown.length).toBeGreaterThan(80)
})

test('what the command line does not have is noticed', () => {
  expect(unknownIn('store create --name "A --b" --ai-built --json')).toBeNull()
  expect(unknownIn('store make --name A')).toBe('there is no command make')
  expect(unknownIn('stores')).toBe('there is no command stores')
  expect(unknownIn('doctor --fix')).toBe('doctor has no --fix')
})

test('a page that names the release names this one', () => {
  const named = current.flatMap(({ file, body }) =>
    [...body.matchAll(/\b(?:Stoa(?:Scan)?[ /]|stoa-sdk-)(\d+\.\d+\.\d+)/g)].map(([, release]) => ({ file, release })),
  )
  expect(named.filter(({ release }) => release !== version)).toEqual([])
  expect(named.length).toBeGreaterThan(2)
})

const dataDir = folderFor('docs-commands')
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

/** What the command line prints on a data folder of its own. */
async function printed(...words: string[]): Promise<string> {
  const env = { PATH: process.env.PATH!, DATA_DIR: dataDir }
  const child = Bun.spawn([process.execPath, 'scripts/stoa.ts', ...words], { env, stdout: 'pipe', stderr: 'inherit' })
  return new Response(child.stdout).text()
}

/** What pages show right below a command. */
const shownBelow = (command: RegExp) =>
  current.flatMap(({ file, code }) =>
    code.flatMap((block, i) => (block.language === 'sh' && command.test(block.text) && code[i + 1] ? [{ file, ...code[i + 1]! }] : [])),
  )
/** The first words of lines: what each is about. */
const labels = (text: string, words: RegExp) => text.split('\n').flatMap((line) => words.exec(line)?.[0] ?? [])

test('a new store is shown with all that the command prints of it', async () => {
  const NAME = /^ *\w+(?=( {2,}|, ))/
  const real = labels(await printed('store', 'create', '--name', 'Atelier Nord', '--ai-built'), NAME)
  const shown = shownBelow(/store create [^]*--ai-built/).filter(({ text }) => /^store /.test(text))
  expect(shown.length).toBeGreaterThan(0)
  for (const { file, text } of shown) expect(labels(text, NAME), file).toEqual(real)
})

test('doctor is shown with all that it looks at', async () => {
  const LOOKED_AT = /^(ok|BROKEN) +\w+/
  const real = labels(await printed('doctor'), LOOKED_AT).map((line) => line.split(/ +/)[1])
  expect(real.length).toBeGreaterThan(6)
  const shown = shownBelow(/stoa -- doctor$/m).filter(({ text }) => /^ok /.test(text))
  expect(shown.length).toBeGreaterThan(2)
  for (const { file, text } of shown)
    expect(
      labels(text, LOOKED_AT).map((line) => line.split(/ +/)[1]),
      file,
    ).toEqual(real)
})
