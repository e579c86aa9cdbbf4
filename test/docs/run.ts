/** Running what a page shows: its requests in a shell, its programs in Bun, its answers against the real ones. */
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { folderFor } from '../folder.ts'
import type { CodeBlock } from '../../site/lib/markdown.ts'
import { differences, isNoted, isPrinted, shown } from './difference.ts'
import { PICTURE } from './picture.ts'

const RUN_MAX_MS = 20_000
const isRun = ({ meta }: CodeBlock) => !meta.split(/\s+/).includes('norun')

/** Notes the status of each request, and prints its body as curl would. */
const CURL = `set -euo pipefail
# What a block exports is there in the next, as in the reader's terminal.
[ -f "$HOME/exported" ] && . "$HOME/exported"
trap 'export -p > "$HOME/exported"' EXIT
# Pages wait as their readers would: a second at a time for what is at hand here, longer where time is what counts.
sleep() { command sleep "$([ "$1" = 1 ] && echo 0.1 || echo "$1")"; }
curl() {
  local answer
  answer=$(command curl -sS -w $'\\n%{http_code}' "$@")
  echo "\${answer##*$'\\n'}" >> "$STATUSES"
  printf '%s\\n' "\${answer%$'\\n'*}"
}
`

interface Ran {
  exitCode: number
  stdout: string
  stderr: string
}

async function ran(command: string[], env: Record<string, string>, cwd?: string): Promise<Ran> {
  const child = Bun.spawn(command, { env, cwd, stdout: 'pipe', stderr: 'pipe', stdin: 'ignore', timeout: RUN_MAX_MS })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { exitCode: await child.exited, stdout, stderr }
}

/** Runs the requests of a page in their order; returns what is wrong, with the line of the file. */
async function runRequests(code: readonly CodeBlock[], env: Record<string, string>, folder: string): Promise<string[]> {
  const problems: string[] = []
  const asked = code
    .filter((block) => block.language === 'sh' && isRun(block))
    .map(({ text }) => text)
    .join('\n')
  for (const [i, block] of code.entries()) {
    if (block.language !== 'sh' || !isRun(block)) continue
    const statuses = join(folder, 'statuses')
    writeFileSync(statuses, '')
    const { exitCode, stdout, stderr } = await ran(
      ['bash', '-c', `${CURL}${block.text}`],
      { ...env, STATUSES: statuses, HOME: folder },
      folder,
    )
    const got = readFileSync(statuses, 'utf8').trim().split('\n').filter(Boolean).map(Number)
    const wanted = Number(/\bstatus=(\d{3})\b/.exec(block.meta)?.[1] ?? 0)
    if (exitCode !== 0 || !got.length) problems.push(`${block.line}: ends with ${exitCode}: ${stderr || 'no request'}`)
    else if (wanted ? got.at(-1) !== wanted : got.some((status) => status >= 400))
      problems.push(`${block.line}: is answered with ${got}: ${stdout.slice(0, 300)}`)
    const next = code[i + 1]
    if (exitCode !== 0 || next?.language !== 'json' || !isRun(next)) continue
    try {
      const found = differences(shown(next.text), JSON.parse(stdout.slice(stdout.search(/[{[]/))), asked)
      problems.push(...found.map((problem) => `${next.line}: ${problem}`))
    } catch (error) {
      problems.push(`${next.line}: ${(error as Error).message}; the answer is ${stdout.slice(0, 300)}`)
    }
  }
  return problems
}

/** Runs a page's programs as one module; a text below one of them is what they print, or a part of that, and so is a comment behind `console.log`. */
async function runPrograms(code: readonly CodeBlock[], env: Record<string, string>, folder: string): Promise<string[]> {
  const blocks = code.filter((block) => block.language === 'ts' && isRun(block))
  if (!blocks.length) return []
  // What a reader would install.
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const file = join(folder, 'page.ts')
  writeFileSync(file, `${blocks.map(({ text }) => text).join('\n')}\nexport {}\n`)
  // In one stream, as a terminal shows what is printed and what is complained of.
  const { exitCode, stdout } = await ran(['bash', '-c', 'exec "$0" "$1" 2>&1', process.execPath, file], env, folder)
  if (exitCode !== 0) return [`${blocks[0]!.line}: the programs end with ${exitCode}: ${stdout.slice(0, 1000)}`]
  const asked = blocks.map(({ text }) => text).join('\n')
  const printed = code.filter((block, i) => block.language === 'text' && isRun(block) && blocks.includes(code[i - 1]!))
  const noted = blocks.flatMap(({ text, line }) =>
    text.split('\n').flatMap((row, i) => {
      const comment = /\bconsole\.log\(.*\) \/\/ (.+)$/.exec(row)?.[1]
      return comment ? [{ comment, line: line + 1 + i }] : []
    }),
  )
  return [
    ...printed
      .filter(({ text }) => !isPrinted(text, stdout, asked))
      .map(({ line }) => `${line}: is not what the programs print: ${stdout.slice(0, 1000)}`),
    ...noted
      .filter(({ comment }) => !isNoted(comment, stdout))
      .map(({ comment, line }) => `${line}: ${comment} is not printed: ${stdout.slice(0, 1000)}`),
  ]
}

export const runs = ({ code }: { code: readonly CodeBlock[] }) =>
  code.some((block) => ['sh', 'ts'].includes(block.language) && isRun(block))

/** What is wrong with the requests and programs of a page, a line each. */
export async function runPage(code: readonly CodeBlock[], variables: Record<string, string>): Promise<string[]> {
  const folder = folderFor('page')
  const env = { ...variables, PATH: process.env.PATH! }
  writeFileSync(join(folder, 'linen-shirt.jpg'), PICTURE)
  try {
    return [...(await runRequests(code, env, folder)), ...(await runPrograms(code, env, folder))]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
