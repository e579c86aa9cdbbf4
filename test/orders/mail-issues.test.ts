/** Mails about orders that did not arrive: they stand on their orders, through a real SMTP server that refuses them. */
import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { mailing } from '../mailing.ts'
import { ADDRESS, made } from '../shop.ts'

const all = mailing()
const HOUR_MS = 3_600_000
const buy = async () => {
  const { shop } = all
  const email = `${crypto.randomUUID().slice(0, 8)}@example.com`
  const items = [{ variantId: await shop.variant({ shippable: true }), quantity: 1 }]
  return shop.buy({ items, email, shippingAddress: ADDRESS, shippingMethodId: await shop.method({ price: 0 }) })
}
const issues = async (id: string) => (await all.shop.order(id)).mailIssues
/** Lets a mail that is put off have all of its attempts. */
async function waitFor(hours: number) {
  await all.app.jobs.settle()
  for (let i = 0; i < hours; i++) {
    all.app.clock.advance(HOUR_MS)
    await all.app.jobs.settle()
  }
}

test('an address that the mail server refuses for good stands on its order, with what the server said', async () => {
  const { app, shop, options } = all
  const arrived = await buy()
  await app.jobs.settle()
  options.refuse = (address) => (address === arrived.customer.email ? undefined : 550)
  const order = await buy()
  expect(order.mailIssues).toEqual([])
  await app.jobs.settle()
  const issue = {
    kind: 'order-confirmation',
    about: null,
    status: 'refused',
    reason: expect.stringContaining('550'),
    at: expect.any(String),
  }
  expect([await issues(arrived.id), await issues(order.id)]).toEqual([[], [issue]])
  // It is no job any more: nothing will change about it by itself.
  expect((await shop.get('/jobs')).body.data).toEqual([])
  const ids = async (query: string) => made(await shop.get(`/orders?${query}`)).data.map(({ id }: { id: string }) => id)
  expect([await ids('mailIssue=true'), await ids('mailIssue=false')]).toEqual([[order.id], [arrived.id]])
  expect(made(await shop.get('/orders?mailIssue=true')).data[0].mailIssues).toEqual([issue])
  // A key of the shop's pages, which may look an order up, learns nothing of it.
  expect(made(await shop.get(`/orders/${order.id}`, { key: shop.keys.storefront })).mailIssues).toEqual([])
})

test('so does a text that is refused, and the mails about a parcel and a refund, each by what it is about', async () => {
  const { app, shop, options } = all
  const order = await buy()
  await app.jobs.settle()
  options.refuseText = () => 554
  const line = { lineId: order.lines[0].id, quantity: 1 }
  const parcel = made(await shop.post(`/orders/${order.id}/shipments`, { lines: [line] }))
  const refund = made(await shop.post(`/orders/${order.id}/refunds`, { amountCents: 100 }))
  await app.jobs.settle()
  const found = await issues(order.id)
  expect(found.toSorted((a: { kind: string }, b: { kind: string }) => (a.kind < b.kind ? -1 : 1))).toEqual([
    expect.objectContaining({ kind: 'refund', about: refund.id, status: 'refused', reason: expect.stringContaining('554') }),
    expect.objectContaining({ kind: 'shipment', about: parcel.id, status: 'refused', reason: expect.stringContaining('554') }),
  ])
})

test('one that is put off is tried again, stands there once it was given up, and is gone when a retry has sent it', async () => {
  const { app, shop, options, smtp } = all
  options.refuse = () => 450
  const order = await buy()
  await waitFor(3)
  expect(await issues(order.id)).toEqual([])
  await waitFor(24)
  expect(await issues(order.id)).toEqual([
    expect.objectContaining({ kind: 'order-confirmation', about: null, status: 'given_up', reason: expect.stringContaining('450') }),
  ])
  const [job] = made(await shop.get('/jobs')).data
  options.refuse = undefined
  made(await shop.post(`/jobs/${job.id}/retry`))
  await app.jobs.settle()
  expect(smtp.taken).toContain(order.customer.email)
  expect(await issues(order.id)).toEqual([])
  expect(made(await shop.get('/orders?mailIssue=true')).meta.count).toBe(0)
})

test('a server that is down is told of without its place, and a connection that ended as unknown', async () => {
  const { app, shop, options } = all
  options.hangUpOn = () => true
  const lost = await buy()
  await app.jobs.settle()
  expect(await issues(lost.id)).toEqual([expect.objectContaining({ kind: 'order-confirmation', status: 'unknown' })])
  await shop.change(sql`delete from jobs`)
  options.hangUpOn = undefined
  await all.smtp.close()
  const order = await buy()
  await waitFor(27)
  const [issue] = await issues(order.id)
  expect(issue).toMatchObject({ status: 'given_up', reason: 'the mail server took nothing' })
  Object.assign(all.smtp, await (await import('../smtp.ts')).smtpServer(Object.assign(options, { port: all.smtp.port })))
})

test('tickets that were refused stand on their order until they were sent again', async () => {
  const { app, shop, options } = all
  const event = { name: 'Workshop', price: '25', startsAt: '2027-12-05T10:00:00Z', location: 'Hall', guest: 'Ada', guestLabel: 'Host' }
  const { id } = made(await shop.post('/events', event)).event
  const variantId = made(await shop.get(`/products/${id}`)).variants[0].id
  options.refuse = () => 550
  const order = await shop.buy({ items: [{ variantId, quantity: 1 }], email: 'grace@example.com', name: 'Grace Hopper' })
  await app.jobs.settle()
  const kinds = async () => (await issues(order.id)).map(({ kind }: { kind: string }) => kind).toSorted()
  expect(await kinds()).toEqual(['order-confirmation', 'ticket'])
  options.refuse = undefined
  made(await shop.post(`/orders/${order.id}/tickets/send`))
  await app.jobs.settle()
  expect(await kinds()).toEqual(['order-confirmation'])
})
