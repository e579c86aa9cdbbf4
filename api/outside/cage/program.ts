/** Programs of ours that run in cages: each is one file in a folder of its own, since a caged program can read nothing else of this one. */
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const made = new Map<string, Promise<string>>()

/** The path of a program as one file, made below `folder` from its first file, which is named `{name}-child.ts`. */
export async function programFile(folder: string, entry: string): Promise<string> {
  const key = `${folder}\n${entry}`
  const making = made.get(key) ?? make(folder, entry)
  made.set(key, making)
  const path = await making.catch((error) => {
    made.delete(key)
    throw error
  })
  // Housekeeping may have taken away what nobody has used for days.
  if (existsSync(path)) return path
  made.delete(key)
  return programFile(folder, entry)
}

async function make(folder: string, entry: string): Promise<string> {
  const { outputs } = await Bun.build({ entrypoints: [entry], target: 'bun' })
  const text = await outputs[0]!.text()
  const name = entry.slice(entry.lastIndexOf('/') + 1).replace(/-child\.ts$/, '')
  const path = join(folder, `${name}-${new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 16)}`, `${name}.mjs`)
  if (!existsSync(path)) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(`${path}.${process.pid}`, text)
    renameSync(`${path}.${process.pid}`, path)
  }
  return path
}
