import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { childrenOf, cleanUp, run, startShop } from './processes.ts'

afterAll(cleanUp)

const BUN = process.execPath

/** The process of the content site that a server has begun. */
const siteOf = async (pid: number) => (await childrenOf(pid)).find(({ command }) => command.includes('serve-site.ts'))?.pid
const healthOf = (url: string) =>
  fetch(`${url}/healthz`, { headers: { connection: 'close' }, signal: AbortSignal.timeout(5_000) }).then(
    (response) => response.status,
    () => null,
  )
const until = async (isSo: () => Promise<boolean>) => {
  for (const deadline = Date.now() + 20_000; !(await isSo()); await Bun.sleep(20))
    if (Date.now() > deadline) throw new Error('it did not come to that')
}

/** How long 19 of 20 requests on connections of their own take at most, in ms. */
async function patience(url: string): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < 100; i++) {
    const started = performance.now()
    expect(await healthOf(url)).toBe(200)
    times.push(performance.now() - started)
    await Bun.sleep(10)
  }
  return times.toSorted((a, b) => a - b)[94]!
}

describe('the content site under npm start', () => {
  test('leaves the API its time while eight clients search it on new connections', async () => {
    const { api, site } = await startShop({ TRUST_PROXY: '127.0.0.1' })
    const alone = await patience(api)
    const searchers = run([BUN, 'scripts/bench/searchers.ts'], { SITE: site, CLIENTS: '8' })
    await searchers.says(/found/)
    await Bun.sleep(1_000)
    const beside = await patience(api)
    searchers.child.kill('SIGKILL')
    // With both on one loop the API gave no answer within five seconds.
    expect(beside).toBeLessThan(5 * alone + 100)
  })

  test('is a process without the secrets of the shop, started again on its port when it dies, and ended with the server', async () => {
    const secret = 'fjkw83hfkw03jfls83jfow93jfls92jf'
    const { running, api, site } = await startShop({ SECRET_KEY: secret })
    const { pid } = running.child
    const first = (await siteOf(pid!))!
    expect(readFileSync(`/proc/${first}/environ`, 'utf8')).not.toContain(secret)
    process.kill(first, 'SIGKILL')
    await until(async () => (await healthOf(site)) === 200)
    expect(await siteOf(pid!)).not.toBe(first)
    expect(running.stderr).toBe('the content site ended (SIGKILL): starting another one\n')
    expect(await (await fetch(site)).text()).toContain(`${api}/api/v1/docs`)

    running.child.kill('SIGTERM')
    expect((await running.ended).code).toBe(0)
    expect([await healthOf(site), await healthOf(api)]).toEqual([null, null])
  })

  test('lets go of its port when the server is gone', async () => {
    const { running, site } = await startShop()
    running.child.kill('SIGKILL')
    await until(async () => (await healthOf(site)) === null)
  })
})
