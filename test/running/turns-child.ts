/** A process that waits for its turn at writing the file at `argv[2]`, and says when it has come. */
import { turnsAt } from '../../db/turns.ts'

const WAIT_MAX_MS = 60_000

const turns = turnsAt(process.argv[2]!)
// Its port is told a moment after it has its place.
turns.join()
await Bun.sleep(200)
turns.join()
process.stdout.write('waits\n')
await turns.wait(WAIT_MAX_MS)
process.stdout.write('woken\n')
