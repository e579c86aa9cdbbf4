import { expect, test } from 'vitest'
import { Turns } from '../../api/builder/builds/turns.ts'

test('long work that is done in turns lets whoever waits go before', async () => {
  let answered = 0
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => (answered++, new Response()) })
  const asking = Promise.all(Array.from({ length: 20 }, () => fetch(server.url)))
  const turns = new Turns()
  for (let step = 0; step < 200; step++) {
    const until = performance.now() + 1
    while (performance.now() < until);
    await turns.pass()
  }
  expect(answered).toBe(20)
  await asking
  await server.stop(true)
})
