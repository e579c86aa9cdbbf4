/** A process that holds the write lock of the database at `argv[2]` until its standard input ends. */
import { FileConnection } from '../../db/connection.ts'

const connection = new FileConnection(process.argv[2]!)
connection.exec('BEGIN IMMEDIATE')
process.stdout.write('locked\n')
for await (const _ of Bun.stdin.stream()) continue
connection.exec('ROLLBACK')
connection.close()
