/** Whether database files are whole, by SQLite's own check; each file has its time, and none can hold up the process that asks. */
import type { Subprocess } from 'bun'
import LibsqlFile from 'libsql'
import { isLocked } from '../db/errors.ts'

const SELF = new URL(import.meta.url).pathname
/** SQLite reads about 300 MB in a second: more than 15 GB is not looked through. */
const FILE_MAX_MS = 60_000
/** A file that a server has locked at this moment is looked at again. */
const TRIES_MAX = 50
const TRY_AGAIN_MS = 20
const TIMED_OUT = `not looked through within ${FILE_MAX_MS / 1_000} s`

/** What is wrong with a file; null when it is whole. */
interface FileCheck {
  path: string
  damage: string | null
  /** It took too long: nobody knows. */
  isUnknown: boolean
}

/** Checks files one after the other, in a process of its own that is ended when one takes too long. */
export async function checkFiles(paths: string[], tell: (done: number) => void = () => {}, fileMaxMs = FILE_MAX_MS): Promise<FileCheck[]> {
  const checked: FileCheck[] = []
  while (checked.length < paths.length) {
    const rest = paths.slice(checked.length)
    const child = Bun.spawn([process.execPath, SELF], { stdin: new Blob([rest.join('\n')]), stdout: 'pipe', stderr: 'inherit' })
    for await (const damage of answers(child, fileMaxMs)) {
      // It was over as the last answer came.
      if (checked.length === paths.length) break
      checked.push({ path: paths[checked.length]!, damage: damage === TIMED_OUT ? null : damage, isUnknown: damage === TIMED_OUT })
      tell(checked.length)
    }
  }
  return checked
}

/** The child's answers, a line for each file; the last one may be that it took too long, or has died of it. */
async function* answers(child: Subprocess<Blob, 'pipe', 'inherit'>, fileMaxMs: number): AsyncGenerator<string | null> {
  let isOver = false
  let timer: ReturnType<typeof setTimeout> | undefined
  const wait = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      isOver = true
      child.kill('SIGKILL')
    }, fileMaxMs)
  }
  wait()
  let text = ''
  const decoder = new TextDecoder()
  for await (const bytes of child.stdout) {
    text += decoder.decode(bytes, { stream: true })
    const lines = text.split('\n')
    text = lines.pop()!
    for (const line of lines) yield JSON.parse(line) as string | null
    wait()
  }
  clearTimeout(timer)
  const code = await child.exited
  if (isOver) yield TIMED_OUT
  else if (code !== 0) yield `SQLite's check ended with ${child.signalCode ?? code}`
}

async function damageOf(path: string): Promise<string | null> {
  for (let tries = 1; ; tries++) {
    try {
      return look(path)
    } catch (error) {
      if (!isLocked(error)) return (error as Error).message
      if (tries === TRIES_MAX) return null
      await Bun.sleep(TRY_AGAIN_MS)
    }
  }
}

function look(path: string): string | null {
  const file = new LibsqlFile(path, { readonly: true } as never)
  try {
    const [answer] = file.prepare('PRAGMA quick_check(1)').raw(true).get() as [string]
    return answer === 'ok' ? null : answer.replace(/^\*\*\* in database main \*\*\*\n/, '').split('\n')[0]!
  } finally {
    file.close()
  }
}

if (import.meta.main) {
  for (const path of (await Bun.stdin.text()).split('\n')) if (path) process.stdout.write(`${JSON.stringify(await damageOf(path))}\n`)
}
