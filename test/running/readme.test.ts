import { readFileSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { cleanUp, folder, keysOf, run, startStoa } from './processes.ts'

afterAll(cleanUp)

test("the README's purchase works on the demo store, as it is written", async () => {
  const { running, api } = await startStoa({ DATA_DIR: folder() })
  const { storefront } = keysOf(running.stdout)
  // Dressed by then, with what can be booked and sold without stock.
  for (const deadline = Date.now() + 90_000; !running.stdout.includes('Demo shop is open'); await Bun.sleep(100))
    if (Date.now() > deadline) throw new Error(`the demo shop does not open: ${running.stdout.slice(-500)}${running.stderr}`)
  const script = [...readFileSync('README.md', 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)]
    .map(([, block]) => block)
    .join('\n')
    .replace('http://127.0.0.1:3000', api)
    .replace('sk-…', storefront)
  const { code, stdout, stderr } = await run(['bash', '-euc', script]).ended
  expect([code, stderr]).toEqual([0, ''])
  const { order, payment } = JSON.parse(stdout.slice(stdout.lastIndexOf('{"order"')))
  expect(order).toMatchObject({
    orderNumber: '1031',
    status: 'paid',
    paymentStatus: 'paid',
    lines: [{ quantity: 1 }],
    shipping: { name: 'Standard' },
  })
  expect(payment).toMatchObject({ method: 'test', status: 'succeeded', amountCents: order.totalCents })
}, 120_000)
