/** The folder of the databases, and of what else belongs to stores and is no database. */
import { accessSync, constants, mkdirSync } from 'node:fs'

/** Makes the data folder, for the eyes of this user alone: it holds customers' data. */
export function makeDataDir(path: string) {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    accessSync(path, constants.W_OK)
  } catch (error) {
    throw new Error(
      `DATA_DIR ${path} can't be written (${(error as { code?: string }).code}): set DATA_DIR to a folder that this user may write`,
    )
  }
}
