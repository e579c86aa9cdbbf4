/** A look at the numbers that the databases of a store have given, as they are: nothing is made, migrated or mended. */
import { existsSync } from 'node:fs'
import LibsqlFile from 'libsql'
import { numbersIn, type Numbers } from './numbers.ts'
import { databaseName, fileOf, type Location } from './open.ts'

/** The numbers that a store has given, of those of its databases that are files and can be read. */
export function numbersAt(location: Location, storeId: string): Numbers {
  const numbers: Numbers = {}
  for (const environment of ['live', 'sandbox'] as const) {
    const path = fileOf(location, databaseName(storeId, environment))
    if (!path || !existsSync(path)) continue
    try {
      const file = new LibsqlFile(path, { readonly: true })
      try {
        numbers[environment] = numbersIn({ rows: (text) => file.prepare(text).raw(true).all() as unknown[][] })
      } finally {
        file.close()
      }
    } catch {
      /* what can't be read is known from before, or not at all */
    }
  }
  return numbers
}
