/** The compiler as strict readers have it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = (path: string) => new URL(`../../${path}`, import.meta.url).pathname

interface Ran {
  exitCode: number
  output: string
}
/** Runs a command; what it says on both of its outputs. */
export async function run(cwd: string, command: string[], env: Record<string, string> = {}): Promise<Ran> {
  const child = Bun.spawn(command, {
    cwd,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { PATH: process.env.PATH!, HOME: process.env.HOME!, ...env },
  })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { exitCode: await child.exited, output: stdout + stderr }
}

/** What programs of the pages use of Node.js: readers have its types, these folders do not. */
export const NODE_TYPES = `declare const process: { env: Record<string, string | undefined> }
declare module 'node:fs' {
  export function openAsBlob(path: string, options?: { type?: string }): Promise<Blob>
}
`

const STRICT = {
  target: 'ES2022',
  lib: ['ES2022', 'DOM', 'DOM.Iterable'],
  module: 'ESNext',
  moduleResolution: 'Bundler',
  strict: true,
  noUncheckedIndexedAccess: true,
}

/** Checks TypeScript in a folder; what is wrong, a line each. */
export async function problemsIn(folder: string, files: string[], more: object = {}): Promise<string[]> {
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...STRICT, noEmit: true, types: [], ...more }, files }))
  const { output } = await run(folder, [process.execPath, root('node_modules/.bin/tsc'), '-p', '.'])
  return output.split('\n').filter((line) => /error TS/.test(line))
}
