/** What mails say of an order, in its language. */
import type { Settings } from '../../http/route.ts'
import { tableOf } from '../../content/mails/table.ts'
import { oneLine, type Value, type Values } from '../../content/mails/template.ts'
import type { Address } from '../../../db/store/store.ts'
import { html } from '../../values/html.ts'
import { toMajor } from '../../values/money.ts'
import type { LineRow, OrderRow } from '../order.ts'
import { labelsOf } from '../../content/mails/labels.ts'

/** An amount as it is read in a language. */
export const amountOf = (cents: number, currency: string, locale: string) =>
  new Intl.NumberFormat(locale, { style: 'currency', currency: currency.toUpperCase() }).format(toMajor(cents, currency))

/** Lines of a text that stand below each other; nothing for none. */
const linesOf = (lines: readonly (string | null | undefined)[]): Value => {
  const there = lines.filter((line): line is string => Boolean(line)).map(oneLine)
  return { text: there.join('\n'), html: there.length ? html`<p>${there.map((line) => html`${line}<br>`)}</p>` : html`` }
}

const addressLines = (address: Address | null, buyer: string | null, locale: string): Value => {
  const { name, company, line1, line2, city, state, postalCode, country } = address ?? {}
  if (!address) return ''
  const land = country && new Intl.DisplayNames(locale, { type: 'region', fallback: 'code' }).of(country)
  return linesOf([name || buyer, company, line1, line2, [postalCode, city, state].filter(Boolean).join(' '), land])
}

/** Units of lines as a table, each with what they cost when that is known. */
export const unitsTable = (units: readonly { line: Pick<LineRow, 'name'>; quantity: number; amount?: string }[]) =>
  tableOf(units.map(({ line, quantity, amount }) => [`${quantity} × ${line.name}`, amount ?? '']))

/** The variables of an order; `locale` is the language that it is told in. */
export function orderValues(order: OrderRow, lines: readonly LineRow[], { timezone }: Settings, locale: string): Values {
  const amount = (cents: number) => amountOf(cents, order.currency, locale)
  const label = labelsOf(locale)
  const { subtotalCents, discountCents, shippingCents, taxCents, totalCents, taxesIncluded } = order
  const totals: [string, string, 'strong'?][] = [[label.subtotal, amount(subtotalCents)]]
  if (discountCents) totals.push([label.discount, amount(-discountCents)])
  if (shippingCents || order.shippingMethodId) totals.push([label.shipping, amount(shippingCents)])
  if (taxCents && !taxesIncluded) totals.push([label.tax, amount(taxCents)])
  totals.push([label.total, amount(totalCents), 'strong'])
  if (taxCents && taxesIncluded) totals.push([label.taxIncluded, amount(taxCents)])
  return {
    customerName: order.name ?? '',
    orderNumber: String(order.lookup),
    orderDate: new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: timezone }).format(new Date(order.createdAt)),
    accessCode: order.accessCode,
    lines: unitsTable(lines.map((line) => ({ line, quantity: line.quantity, amount: amount(line.totalCents) }))),
    total: amount(totalCents),
    totals: tableOf(totals),
    payment: order.paymentStatus === 'unpaid' ? label.unpaid : label.paid,
    shippingAddress: addressLines(order.shippingAddress, order.name, locale),
    shippingMethod: order.shippingName ?? '',
  }
}

/** The way of a parcel: who carries it, its number, where to follow it. */
export const trackingValues = (
  parcel: { carrier: string | null; trackingNumber: string | null; trackingUrl: string | null } | null,
): Values => {
  const { carrier = null, trackingNumber = null, trackingUrl = null } = parcel ?? {}
  const said = [carrier, trackingNumber].filter(Boolean).join(', ')
  const link = trackingUrl === null ? '' : html`<a href="${trackingUrl}">${trackingUrl}</a>`
  const isKnown = Boolean(said) || trackingUrl !== null
  return {
    carrier: carrier ?? '',
    trackingNumber: trackingNumber ?? '',
    trackingUrl: trackingUrl === null ? '' : { url: trackingUrl },
    tracking: {
      text: [said, trackingUrl].filter(Boolean).join('\n'),
      html: isKnown ? html`<p>${said}${said && trackingUrl !== null ? html`<br>` : ''}${link}</p>` : html``,
    },
  }
}
