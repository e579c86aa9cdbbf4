import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { holderToken, isGone } from '../../api/jobs/holder.ts'

const child = join(import.meta.dirname, 'holder-child.ts')
/** Runs the child to its end, with a token to judge. */
function ended(token = '', around: string[] = []): { token: string; isGone: boolean } {
  const { stdout, stderr, exitCode } = Bun.spawnSync([...around, process.execPath, child, token], { stdout: 'pipe', stderr: 'pipe' })
  if (exitCode !== 0) throw new Error(String(stderr))
  return JSON.parse(String(stdout))
}
/** A namespace of processes of its own, as a container has one; under the same host name. */
const APART = ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--mount-proc']

describe('the holder of a lease', () => {
  test('is gone once its process has ended where this one runs, and not before', () => {
    expect(isGone(holderToken('mine'))).toBe(false)
    expect(isGone(ended().token)).toBe(true)
    expect(ended(holderToken('mine')).isGone).toBe(false)
  })

  test('is another one at each start, under the same process number, too', () => {
    const { token } = ended()
    const [place, , nonce] = token.split(' ')
    expect(nonce).not.toBe(ended().token.split(' ')[2])
    expect(isGone(`${place} ${process.pid} ${nonce} s`)).toBe(true)
  })

  test('is not judged from another container of the same name, nor from another machine', () => {
    // What starts another namespace of processes, or has it said so where this user may not.
    const mayUnshare = Bun.spawnSync([...APART, 'true']).exitCode === 0
    const token = mayUnshare ? ended('', APART).token : ended().token.replace(/pid:\[\d+\]/, 'pid:[1]')
    expect(token.split(' ')[0]).not.toBe(holderToken('mine').split(' ')[0])
    expect(isGone(token)).toBe(false)
    // There the first process has the number 1, as in each container: it takes no lease of another one's first process.
    const [place, , nonce] = holderToken('mine').split(' ')
    if (mayUnshare) expect(ended(`${place} 1 ${nonce} s`, APART).isGone).toBe(false)
    expect(isGone(ended().token.replace(/^\w{8}/, '00000000'))).toBe(false)
    expect(isGone(`${Bun.env.HOSTNAME ?? 'host'} 1 12345678 s`)).toBe(false)
  })
})
