/** Runs the hostile program in a cage, as the user that this process is of: a test begins it as another one. */
import { runCaged } from '../../api/outside/cage/cage.ts'

const [folder, program, pid, path] = process.argv.slice(-4)
const error = () => new Error('it takes too much')
let text = ''
await runCaged(
  {
    ...{ read: [program!.slice(0, program!.lastIndexOf('/'))], write: [folder!], args: [program!, pid!, path!], env: {}, cwd: folder! },
    ...{ memoryMaxBytes: 1024 ** 3, timeMaxMs: 20_000, tooLarge: error, tooSlow: error },
  },
  async ({ stdout, stderr }) => {
    const [said, wrong] = await Promise.all([new Response(stdout).text(), new Response(stderr).text()])
    text = said || wrong
  },
)
process.stdout.write(text)
