/** What the demo shop has to say: posts, events, small print. */

const paragraphs = (...texts: string[]) => ({
  type: 'doc',
  content: texts.map((text) =>
    text.startsWith('## ')
      ? { type: 'heading', attrs: { level: 2 }, content: [{ type: 'text', text: text.slice(3) }] }
      : { type: 'paragraph', content: [{ type: 'text', text }] },
  ),
})

export const POSTS = [
  {
    title: 'How a mug is made in an afternoon',
    slug: 'how-a-mug-is-made',
    excerpt: 'Four pairs of hands, one kiln, and why no two glazes are alike.',
    thing: 'Mug',
    content: paragraphs(
      'The clay arrives wet, in bags of twelve kilos. By noon it is thrown, by two it has a handle, and by evening it stands in a row with forty others, waiting to dry.',
      '## The handle is the hard part',
      'A handle that is pulled, not pressed, follows the hand. It takes a year to learn and ten seconds to do.',
      'What we check before a mug leaves: that it stands, that it pours, and that it is pleasant to wash.',
    ),
  },
  {
    title: 'Caring for linen',
    slug: 'caring-for-linen',
    excerpt: 'Wash it often, iron it seldom, and let it get old.',
    thing: 'Shirt',
    content: paragraphs(
      'Linen is strongest when it is wet, which is why it survives a hundred washes better than most of us survive one.',
      '## Three rules',
      'Forty degrees, no softener, out of the machine while it is damp. Hang it by the hem and the sleeves iron themselves.',
    ),
  },
  {
    title: 'What we carry on a Sunday',
    slug: 'what-we-carry-on-a-sunday',
    excerpt: 'A small pack, a flask, something to write with.',
    thing: 'Daypack',
    content: paragraphs(
      'The best walk is the one that begins at the door. Everything here fits into twelve litres and leaves room for a loaf of bread.',
      '## The list',
      'A flask of tea, a notebook, a sweater for the way back. Nothing that needs charging.',
    ),
  },
] as const

const DAY_MS = 86_400_000
/** An instant so many days from now, at an hour of the day. */
/** The demo shop is eight hours behind, in winter. */
const BEHIND_HOURS = 8
/** An hour of one of the next days, where the demo shop is. */
const on = (nowMs: number, days: number, hour: number) => {
  const date = new Date(nowMs + days * DAY_MS)
  date.setUTCHours(hour + BEHIND_HOURS, 0, 0, 0)
  return date.toISOString()
}

export const eventsFrom = (nowMs: number) => [
  {
    name: 'Mending workshop',
    slug: 'mending-workshop',
    price: '25.00',
    startsAt: on(nowMs, 24, 17),
    location: 'Our workshop, 12 Harbour Street',
    capacity: 12,
    description: 'Bring one thing with a hole in it and leave with one without.',
    thing: 'Sweater',
  },
  {
    name: 'An evening with the potter',
    slug: 'evening-with-the-potter',
    price: '18.00',
    startsAt: on(nowMs, 45, 18),
    location: 'The kiln, Yard 3',
    capacity: 20,
    description: 'Throw a bowl, break a bowl, take one home.',
    thing: 'Serving Bowl',
  },
]

/** Times at which one can come: three a day on the next days. */
export const timesFrom = (nowMs: number) =>
  [3, 4, 6, 9, 10, 12].flatMap((days) =>
    [10, 13, 16].map((hour) => ({ startsAt: on(nowMs, days, hour), endsAt: on(nowMs, days, hour + 1) })),
  )

export const LEGAL: Record<string, { title: string; content: ReturnType<typeof paragraphs> }> = {
  shipping: {
    title: 'Shipping',
    content: paragraphs('Orders leave within two working days. You choose how at the checkout; over the threshold it is free.'),
  },
  returns: {
    title: 'Returns',
    content: paragraphs('You have 30 days from the day of delivery. What comes back unused is paid back in full.'),
  },
  privacy: { title: 'Privacy', content: paragraphs('This is a demo shop: it keeps what an order needs, and sends nothing to anybody.') },
  terms: { title: 'Terms', content: paragraphs('Nothing that is ordered here is delivered, since this shop shows what Stoa can do.') },
  imprint: { title: 'Imprint', content: paragraphs('Demo store, 12 Harbour Street, 97205 Portland.') },
}

export const REVIEWS = [
  { author: 'Ingrid L.', rating: 5, content: 'Heavier than it looks, in the best way. I have bought a second one for my sister.' },
  { author: 'Mateusz', rating: 4, content: 'Well made, and it smells of the workshop. Came a day late, hence four stars.' },
  { author: 'Noor', rating: 5, content: 'I use it every day. After two months it looks better than on the first one.' },
  { author: 'Hugo M.', rating: 4, content: 'The colour is a little darker than on the screen. I like it more that way.' },
]
