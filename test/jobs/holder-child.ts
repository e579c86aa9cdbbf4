/** A process that prints a token for a lease of its own, and whether it takes the holder of the one in `argv[2]` for gone. */
import { holderToken, isGone } from '../../api/jobs/holder.ts'

console.log(JSON.stringify({ token: holderToken('s'), isGone: isGone(process.argv[2] ?? '') }))
