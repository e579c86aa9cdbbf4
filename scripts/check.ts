/** `npm run check:content`: everything that is wrong with the content, one line each. With arguments, only in files that begin so. */
import { ContentError, readContent } from '../site/lib/content.ts'

const wanted = process.argv.slice(2).map((path) => path.replace(/^\.\//, ''))
let problems: readonly string[] = []
try {
  readContent(new URL('..', import.meta.url).pathname)
} catch (error) {
  if (!(error instanceof ContentError)) throw error
  problems = error.problems.filter((problem) => !wanted.length || wanted.some((path) => problem.startsWith(path)))
}
for (const problem of problems) console.log(problem)
console.log(problems.length ? `${problems.length} problems` : 'the content is in order')
process.exit(problems.length ? 1 : 0)
