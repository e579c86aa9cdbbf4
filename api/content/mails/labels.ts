/** The few words that tables and buttons of mails have, in the languages that Stoa speaks; templates have all others. */

const ENGLISH = {
  subtotal: 'Subtotal',
  discount: 'Discount',
  shipping: 'Shipping',
  tax: 'Tax',
  taxIncluded: 'Tax included',
  total: 'Total',
  paid: 'It is paid.',
  unpaid: 'It waits for your payment.',
  order: 'See your order',
  tickets: 'Your tickets',
  product: 'See it in the shop',
}
type Labels = typeof ENGLISH

const LABELS: Readonly<Record<string, Labels>> = {
  en: ENGLISH,
  de: {
    subtotal: 'Zwischensumme',
    discount: 'Rabatt',
    shipping: 'Versand',
    tax: 'Steuer',
    taxIncluded: 'Darin Steuer',
    total: 'Gesamt',
    paid: 'Sie ist bezahlt.',
    unpaid: 'Sie wartet auf Ihre Zahlung.',
    order: 'Bestellung ansehen',
    tickets: 'Ihre Karten',
    product: 'Im Laden ansehen',
  },
  pl: {
    subtotal: 'Suma częściowa',
    discount: 'Rabat',
    shipping: 'Dostawa',
    tax: 'Podatek',
    taxIncluded: 'W tym podatek',
    total: 'Razem',
    paid: 'Jest opłacone.',
    unpaid: 'Czeka na płatność.',
    order: 'Zobacz zamówienie',
    tickets: 'Twoje bilety',
    product: 'Zobacz w sklepie',
  },
  es: {
    subtotal: 'Subtotal',
    discount: 'Descuento',
    shipping: 'Envío',
    tax: 'Impuestos',
    taxIncluded: 'Impuestos incluidos',
    total: 'Total',
    paid: 'Está pagado.',
    unpaid: 'Está pendiente de pago.',
    order: 'Ver tu pedido',
    tickets: 'Tus entradas',
    product: 'Ver en la tienda',
  },
}

/** The words for a locale; English for those that have none. */
export const labelsOf = (locale: string): Labels => LABELS[locale.slice(0, 2)] ?? ENGLISH
