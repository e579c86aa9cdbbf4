/** The few words that tables of mails have, in the languages that Stoa speaks; templates have all others. */

const ENGLISH = {
  subtotal: 'Subtotal',
  discount: 'Discount',
  shipping: 'Shipping',
  tax: 'Tax',
  taxIncluded: 'Tax included',
  total: 'Total',
  paid: 'It is paid.',
  unpaid: 'It waits for your payment.',
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
  },
}

/** The words for a locale; English for those that have none. */
export const labelsOf = (locale: string): Labels => LABELS[locale.slice(0, 2)] ?? ENGLISH
