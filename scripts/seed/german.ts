/** The seed's words in German: names are put together of the same parts. */

const THINGS: Record<string, string> = {
  ...{ Shirt: 'Hemd', Overshirt: 'Überhemd', Polo: 'Polohemd', 'T-Shirt': 'T-Shirt', Sweater: 'Pullover', Cardigan: 'Strickjacke' },
  ...{
    Turtleneck: 'Rollkragenpullover',
    Mug: 'Becher',
    'Serving Bowl': 'Servierschale',
    Kettle: 'Wasserkessel',
    'Cutting Board': 'Schneidebrett',
  },
  ...{
    'Table Lamp': 'Tischleuchte',
    Throw: 'Wolldecke',
    Vase: 'Vase',
    'Side Table': 'Beistelltisch',
    Backpack: 'Rucksack',
    Daypack: 'Tagesrucksack',
  },
  ...{
    'Dry Bag': 'Packsack',
    Tarp: 'Tarp',
    Lantern: 'Laterne',
    'Camp Stove': 'Campingkocher',
    Flask: 'Trinkflasche',
    Notebook: 'Notizbuch',
  },
  ...{
    Sketchbook: 'Skizzenbuch',
    Planner: 'Kalenderbuch',
    'Card Set': 'Kartenset',
    'Desk Pad': 'Schreibunterlage',
    Calendar: 'Wandkalender',
  },
}
const MATERIALS: Record<string, string> = {
  ...{ Linen: 'Leinen', Merino: 'Merino', Cotton: 'Baumwolle', Denim: 'Denim', Corduroy: 'Cord', Flannel: 'Flanell', Oak: 'Eiche' },
  ...{ Stoneware: 'Steinzeug', Brass: 'Messing', Glass: 'Glas', Walnut: 'Nussbaum', Wool: 'Wolle', Waxed: 'Gewachst', Ripstop: 'Ripstop' },
  ...{ Titanium: 'Titan', Canvas: 'Canvas', Aluminium: 'Aluminium', Recycled: 'Recycelt', Laid: 'Büttenpapier', Dotted: 'Gepunktet' },
  ...{ 'Cloth-Bound': 'Leinenband', Letterpress: 'Buchdruck' },
}
const QUALITIES: Record<string, string> = {
  ...{ Everyday: 'Alltag', Heritage: 'Erbe', Featherlight: 'Federleicht', Workshop: 'Werkstatt', Harbour: 'Hafen', Alpine: 'Alpin' },
  ...{ Studio: 'Atelier', Fjord: 'Fjord', Meadow: 'Wiese', Quiet: 'Stille', Classic: 'Klassik', Market: 'Markt' },
}
const SENTENCES: Record<string, string> = {
  'Made in small batches from materials that age well.': 'In kleinen Mengen gemacht, aus Materialien, die gut altern.',
  'Checked by hand before it leaves the workshop.': 'Von Hand geprüft, bevor es die Werkstatt verlässt.',
  'Designed to be repaired, not replaced.': 'Zum Reparieren gemacht, nicht zum Ersetzen.',
  'Packed without plastic and ready to give.': 'Ohne Plastik verpackt und bereit zum Verschenken.',
  'Comes with a care card and spare parts.': 'Mit Pflegekarte und Ersatzteilen.',
  'The version that our own team uses every day.': 'Die Ausführung, die unser Team selbst jeden Tag benutzt.',
}
const GROUPS: Record<string, string> = {
  ...{
    Clothing: 'Kleidung',
    Shirts: 'Hemden',
    Knitwear: 'Strick',
    Home: 'Zuhause',
    Kitchen: 'Küche',
    Living: 'Wohnen',
    Outdoor: 'Draußen',
  },
  ...{
    Packs: 'Rucksäcke',
    Camp: 'Lager',
    Paper: 'Papier',
    Notebooks: 'Notizbücher',
    Desk: 'Schreibtisch',
    'New arrivals': 'Neu eingetroffen',
  },
  ...{
    'Gifts under 50': 'Geschenke unter 50',
    'Summer house': 'Sommerhaus',
    'Made to last': 'Für lange Zeit',
    'Staff picks': 'Unsere Lieblinge',
  },
}

const keyIn = (words: Record<string, string>, text: string, where: 'start' | 'end') =>
  Object.keys(words)
    .filter((word) => (where === 'start' ? text.startsWith(word) : text.endsWith(word)))
    .toSorted((a, b) => b.length - a.length)[0]

/** The parts of a seeded product's name; null for any other product. */
export function partsOf(name: string): { quality: string; material: string; thing: string } | null {
  // A name that is there already has a number behind it.
  const plain = name.replace(/ \d+$/, '')
  const [quality, thing] = [keyIn(QUALITIES, plain, 'start'), keyIn(THINGS, plain, 'end')]
  if (!quality || !thing) return null
  const material = plain.slice(quality.length, plain.length - thing.length).trim()
  return material in MATERIALS ? { quality, material, thing } : null
}

/** `Rucksack Alpin aus Titan` reads better than the English order. */
export function germanName(name: string): string | null {
  const parts = partsOf(name)
  return parts && `${THINGS[parts.thing]} „${QUALITIES[parts.quality]}“, ${MATERIALS[parts.material]}`
}
export const germanGroup = (name: string): string | null => GROUPS[name] ?? null
export const germanSentence = (text: string): string | null => SENTENCES[text] ?? null

/** What is mailed about an order that was placed in German, and to whom asked for something that was sold out. */
export const GERMAN_MAILS: Record<string, { subject: string; body: string }> = {
  'order-confirmation': {
    subject: 'Deine Bestellung {{orderNumber}} bei {{storeName}}',
    body: `# Danke für deine Bestellung

Bestellung **{{orderNumber}}** vom {{orderDate}}. {{payment}}

{{orderButton}}

{{lines}}

{{totals}}

{{shippingMethod}}

{{shippingAddress}}
`,
  },
  shipment: {
    subject: 'Deine Bestellung {{orderNumber}} ist unterwegs',
    body: `# Sie ist unterwegs

Ein Paket deiner Bestellung **{{orderNumber}}** hat uns verlassen.

{{shippedLines}}

{{tracking}}

{{shippingAddress}}

{{orderButton}}
`,
  },
  refund: {
    subject: 'Deine Erstattung von {{amount}} zur Bestellung {{orderNumber}}',
    body: `# Deine Erstattung

Wir haben dir **{{amount}}** deiner Bestellung **{{orderNumber}}** erstattet. {{reason}}

{{refundedLines}}

Bei deiner Bank ist sie vielleicht erst in einigen Tagen zu sehen.

{{orderButton}}
`,
  },
  ticket: {
    subject: 'Deine Tickets für {{eventNames}}',
    body: `{{tickets}}

{{rest}}

{{ticketsButton}}

Bestellung {{orderNumber}}, Zugangscode {{accessCode}}. Jeder Code lässt eine Person ein, einmal.
`,
  },
  'back-in-stock': {
    subject: '{{productName}} ist wieder da',
    body: `# {{productName}} ist wieder da

Du wolltest es wissen: **{{productName}}** gibt es wieder bei {{storeName}}.

{{variantName}}

{{productButton}}

Mehr Mails kommen dazu nicht. [Ich habe nicht darum gebeten]({{stopUrl}})
`,
  },
}
