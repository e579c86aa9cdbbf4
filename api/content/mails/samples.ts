/** What stands in the previews of mails: an order that nobody has placed. */
import { html } from '../../values/html.ts'
import type { TemplateKind } from './kinds.ts'
import { pageValues } from './letter.ts'
import { tableOf } from './table.ts'
import type { Values } from './template.ts'

const lines = tableOf([
  ['2 × Linen shirt, M', '$99.80'],
  ['1 × Wool scarf', '$39.00'],
])
const address = 'Ada Lovelace\n1000 SW Broadway\nPortland, OR 97205\nUS'
const order: Values = {
  customerName: 'Ada Lovelace',
  orderNumber: '1001',
  orderDate: 'March 3, 2027',
  accessCode: '6f1c0a9e52d84b7793ce41d8a0b5f2679e3d1c84',
  lines,
  total: '$143.80',
  shippingAddress: { text: address, html: html`<p>${address.split('\n').map((line) => html`${line}<br>`)}</p>` },
}
const [carrier, trackingNumber] = ['Courier', '1Z999AA10123456784']
const trackingUrl = `https://tracking.example/${trackingNumber}`

/** Sample values of each kind of mail; those that every mail has come from the store itself. */
export const SAMPLES: Readonly<Record<TemplateKind, Values>> = {
  'order-confirmation': {
    ...order,
    payment: 'It is paid.',
    shippingMethod: 'Courier',
    totals: tableOf([
      ['Subtotal', '$138.80'],
      ['Shipping', '$5.00'],
      ['Total', '$143.80'],
    ]),
  },
  shipment: {
    ...order,
    shippedLines: lines,
    carrier,
    trackingNumber,
    trackingUrl: { url: trackingUrl },
    tracking: {
      text: `${carrier}, ${trackingNumber}\n${trackingUrl}`,
      html: html`<p>${carrier}, ${trackingNumber}<br><a href="${trackingUrl}">${trackingUrl}</a></p>`,
    },
  },
  refund: { ...order, amount: '$39.00', reason: 'It was too warm.', refundedLines: tableOf([['1 × Wool scarf', '$39.00']]) },
  ticket: {
    ...order,
    eventNames: 'Mending workshop',
    tickets: {
      text: 'Mending workshop\nSunday, December 5, 2027 at 10:00 AM PST\n\n1. Ada Lovelace: https://shop.example/ticket.pdf',
      html: html`<h1>Mending workshop</h1><p>Sunday, December 5, 2027 at 10:00 AM PST</p><p>1. Ada Lovelace</p>`,
    },
  },
  'back-in-stock': {
    customerName: '',
    productName: 'Linen shirt',
    productSlug: 'linen-shirt',
    variantName: 'M',
    stopUrl: { url: 'https://shop.example/stop' },
  },
  'review-request': {
    ...order,
    reviewUrl: { url: 'https://shop.example/review' },
    stopUrl: { url: 'https://shop.example/api/v1/reviews/stop/example' },
  },
}

/** Pages of a shop that is there, for people who are not. */
export const samplePages = (home: string): Values => ({
  ...pageValues('order', `${home.replace(/\/$/, '')}/order/example`, 'en'),
  ...pageValues('tickets', `${home.replace(/\/$/, '')}/tickets`, 'en'),
  ...pageValues('product', `${home.replace(/\/$/, '')}/products/linen-shirt`, 'en'),
})
