/** The kinds of mails that have a template: what may stand in each, and the words of Stoa for those that a store has not written. */
import { TEMPLATE_KINDS } from '../../../db/store/pages.ts'

export type TemplateKind = (typeof TEMPLATE_KINDS)[number]

/** Variables that every kind has. */
const COMMON = {
  storeName: 'the name of the store',
  storeAddress: 'its postal address on one line',
  contactEmail: 'its contact address',
  customerName: 'the name of the buyer, or nothing',
}
const ORDER = {
  ...COMMON,
  orderNumber: 'the number of the order',
  orderDate: 'the day on which it was placed',
  accessCode: 'the code with which the buyer finds the tickets of the order',
  lines: 'what was bought, as a table',
  total: 'what the order comes to',
  orderUrl: 'the page of the order in the shop, or nothing',
  orderButton: 'a button that leads there, or nothing',
}

interface Kind {
  /** Variables by name, each with what it stands for. */
  variables: Readonly<Record<string, string>>
  /** The one without which the mail would be of no use. */
  needed?: string
  subject: string
  body: string
}

export const KINDS: Readonly<Record<TemplateKind, Kind>> = {
  'order-confirmation': {
    variables: {
      ...ORDER,
      totals: 'subtotal, discount, shipping, tax and total, as a table',
      payment: 'whether it is paid, in one sentence',
      shippingAddress: 'where it goes, or nothing',
      shippingMethod: 'how it goes, or nothing',
    },
    subject: 'Your order {{orderNumber}} at {{storeName}}',
    body: `# Thank you for your order

Order **{{orderNumber}}** of {{orderDate}}. {{payment}}

{{orderButton}}

{{lines}}

{{totals}}

{{shippingMethod}}

{{shippingAddress}}
`,
  },
  shipment: {
    variables: {
      ...ORDER,
      shippedLines: 'what is in this parcel, as a table',
      carrier: 'who carries it, or nothing',
      trackingNumber: 'its number there, or nothing',
      trackingUrl: 'where to follow it, or nothing',
      tracking: 'all three of these, or nothing',
      shippingAddress: 'where it goes, or nothing',
    },
    subject: 'Your order {{orderNumber}} is on its way',
    body: `# It is on its way

A parcel of your order **{{orderNumber}}** has left us.

{{shippedLines}}

{{tracking}}

{{shippingAddress}}

{{orderButton}}
`,
  },
  refund: {
    variables: { ...ORDER, amount: 'what goes back', reason: 'why, or nothing', refundedLines: 'what it is for, as a table, or nothing' },
    subject: 'Your refund of {{amount}} for order {{orderNumber}}',
    body: `# Your refund

We have given back **{{amount}}** of your order **{{orderNumber}}**. {{reason}}

{{refundedLines}}

It may take your bank some days to show it.

{{orderButton}}
`,
  },
  ticket: {
    variables: {
      ...COMMON,
      orderNumber: ORDER.orderNumber,
      accessCode: ORDER.accessCode,
      eventNames: 'the name of the event, or how many there are',
      tickets: 'the tickets, each with its code for the door',
      rest: 'that there are more tickets than a mail lists, or nothing',
      ticketsUrl: 'the page of the tickets in the shop, or nothing',
      ticketsButton: 'a button that leads there, or nothing',
    },
    needed: 'tickets',
    subject: 'Your tickets for {{eventNames}}',
    body: `{{tickets}}

{{rest}}

{{ticketsButton}}

Order {{orderNumber}}, access code {{accessCode}}. Each code lets one person in, once.
`,
  },
  'back-in-stock': {
    variables: {
      ...COMMON,
      productName: 'the name of the product',
      productSlug: 'its slug, for the address of its page',
      productUrl: 'its page in the shop, or nothing',
      productButton: 'a button that leads there, or nothing',
      variantName: 'the name of the variant, or nothing where it is called as its product',
      stopUrl: 'where to say that no mail is wanted',
    },
    subject: '{{productName}} is back',
    body: `# {{productName}} is back

You wanted to know: **{{productName}}** can be bought again at {{storeName}}.

{{variantName}}

{{productButton}}

This is the only mail about it. [I did not ask for this]({{stopUrl}})
`,
  },
  'review-request': {
    variables: { ...ORDER, reviewUrl: 'where to write a review', stopUrl: 'where to say that no such mail is wanted' },
    needed: 'reviewUrl',
    subject: 'How do you like it?',
    body: `# How do you like it?

Your order **{{orderNumber}}** has been with you for a while. A few words of yours help others to choose.

{{lines}}

[Write a review]({{reviewUrl}})

[Do not ask me again]({{stopUrl}})
`,
  },
}
