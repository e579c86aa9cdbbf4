/** The folder of the databases, and of what else belongs to stores and is no database. */
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Makes the data folder, for the eyes of this user alone: it holds customers' data. Throws with one clear line when it can't. */
export function makeDataDir(path: string) {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    accessSync(path, constants.W_OK)
  } catch (error) {
    throw new Error(unwritable(path, (error as { code?: string }).code))
  }
}

/** The error that `makeDataDir` would throw, found out without making anything; null when the folder can be written, or made. */
export function dataDirProblem(path: string): string | null {
  const code = obstacle(path)
  return code && unwritable(path, code)
}

/** The system's code for why a folder can't be written, or be made where it is not there yet; null when it can. */
export function obstacle(path: string): string | null {
  let nearest = path
  while (!existsSync(nearest) && nearest !== dirname(nearest)) nearest = dirname(nearest)
  try {
    if (!statSync(nearest).isDirectory()) return nearest === path ? 'EEXIST' : 'ENOTDIR'
    accessSync(nearest, constants.W_OK)
    return null
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  }
}

const unwritable = (path: string, code?: string) =>
  `DATA_DIR ${path} can't be written (${code}): set DATA_DIR to a folder that this user may write`
