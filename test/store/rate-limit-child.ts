/** A process that takes from many buckets at once with others; prints how many tokens of each it got. */
import { RateLimiter, TABLE_CELLS } from '../../api/server/rate-limit.ts'
import { sharedTable } from '../../db/shared-table.ts'

const [path, startsAt, names, tries, burst] = process.argv.slice(2)
const limiter = new RateLimiter({ perSecond: 0.001, burst: Number(burst) }, sharedTable(path!, TABLE_CELLS))
while (Date.now() < Number(startsAt)) await Bun.sleep(0)
const got = Array.from({ length: Number(names) }, (_, n) => {
  let count = 0
  for (let i = 0; i < Number(tries); i++) if (limiter.take(`name-${n}`).retryAfterSeconds === 0) count++
  return count
})
console.log(JSON.stringify(got))
