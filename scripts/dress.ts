/**
 * Dresses the demo shop: a brand kit, pictures, stories, a second language and currency, and publishes it. Done through the API, like
 * anybody else's shop, once the servers answer; what was cut off goes on at the next start.
 */
import { desc } from 'drizzle-orm'
import { createApp } from '../api/app.ts'
import { beginPublish } from '../api/builder/publishing/publish.ts'
import { ensureProject } from '../api/builder/project/workspace.ts'
import { leaveWord } from '../api/jobs/presence.ts'
import type { Api } from '../api/main.ts'
import type { Services } from '../api/outside/services.ts'
import { inside } from '../api/outside/storefronts.ts'
import { contentUrlOf, type Config } from '../api/server/config.ts'
import { servicesFor } from '../api/services.ts'
import { openRegistry } from '../db/control/open.ts'
import type { Session } from '../db/control/registry.ts'
import { Handles } from '../db/handles.ts'
import { version } from '../package.json'
import { publishes } from '../db/store/builder.ts'
import { DEMO } from './new-store.ts'
import { GERMAN_MAILS, partsOf, germanGroup, germanName, germanSentence } from './seed/german.ts'
import { KITS } from './seed/kits.ts'
import { pictureOf } from './seed/pictures/picture.ts'
import { eventsFrom, LEGAL, POSTS, REVIEWS, timesFrom } from './seed/stories.ts'

const GERMAN = 'de-DE'
/** Where the demo shop is: its dates are those of its place. */
const ZONE = 'America/Los_Angeles'
/** Pictures that are drawn at the same time: one for each of two processors. */
const AT_ONCE = 2
/** So many products have a second picture: those that are seen first. */
const SECOND_VIEWS = 12

interface Product {
  id: string
  name: string
  slug: string
  summary: string | null
  images: string[]
  variants: { options: Record<string, string> }[]
}

class Dresser {
  constructor(
    readonly services: Services,
    readonly session: Session,
    readonly signal: AbortSignal,
  ) {}

  async all() {
    await this.settings()
    await this.drawProducts()
    await this.stories()
    await this.translate()
  }

  /** One request to the API; what is there already (409) and what is gone (404) is left alone. */
  async ask<T = any>(method: string, path: string, body?: unknown): Promise<T> {
    this.signal.throwIfAborted()
    const { ask } = this.services.storefronts
    const isForm = body instanceof FormData
    const request = inside(`/api/v1${path}`, {
      method,
      body: body === undefined ? undefined : isForm ? body : JSON.stringify(body),
      headers: body === undefined || isForm ? {} : { 'content-type': 'application/json' },
    })
    const response = await ask(this.session, request, null)
    const answer = await response.json()
    if (!response.ok && response.status !== 409 && response.status !== 404)
      throw new Error(`${method} ${path} answers ${response.status}: ${JSON.stringify(answer).slice(0, 200)}`)
    return answer as T
  }

  async products(): Promise<Product[]> {
    return (await this.ask<{ data: Product[] }>('GET', '/products?limit=100&sort=newest')).data
  }

  /** Draws a picture, keeps it in the media library, and returns its address. */
  async picture(thing: string, look: Parameters<typeof pictureOf>[1], name: string): Promise<string> {
    const { default: sharp } = await import('sharp')
    const bytes = await sharp(Buffer.from(pictureOf(thing, look)))
      .webp({ quality: 92, effort: 2 })
      .toBuffer()
    const form = new FormData()
    form.append('file', new File([new Uint8Array(bytes)], `${name}.webp`, { type: 'image/webp' }))
    return (await this.ask<{ url: string }>('POST', '/media', form)).url
  }

  async settings() {
    const { harbour } = KITS
    await this.ask('PUT', '/brand-kit', harbour)
    await this.ask('PUT', '/socials', { instagram: 'https://www.instagram.com/example', pinterest: 'https://www.pinterest.com/example' })
    // Without a mail server they are files, in DATA_DIR/mail.
    await this.ask('PATCH', '/settings', { timezone: ZONE, email: { outboundEnabled: true } })
    for (const [kind, page] of Object.entries(LEGAL)) await this.ask('PUT', `/legal-pages/${kind}`, page)
  }

  async drawProducts() {
    const products = (await this.products()).filter(({ images }) => images.length === 0)
    const rest = products.entries()
    const draw = async () => {
      for (const [at, { id, name, slug, variants }] of rest) {
        const parts = partsOf(name)
        if (!parts) continue
        const colour = variants.map(({ options }) => options.colour).find((value) => value) ?? null
        const images: string[] = []
        for (const view of at < SECOND_VIEWS ? ([0, 1] as const) : ([0] as const))
          images.push(await this.picture(parts.thing, { material: parts.material, colour, variation: at, view }, `${slug}-${view}`))
        await this.ask('PATCH', `/products/${id}`, { images })
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, draw))
  }

  async translate() {
    for (const { id, name, summary } of await this.products()) {
      const german = germanName(name)
      if (german)
        await this.ask('PUT', `/products/${id}/translations/${GERMAN}`, {
          name: german,
          ...(summary && germanSentence(summary) ? { summary: germanSentence(summary) } : {}),
        })
    }
    for (const kind of ['categories', 'collections'])
      for (const { id, name } of (await this.ask<{ data: { id: string; name: string }[] }>('GET', `/${kind}?limit=100`)).data) {
        const german = germanGroup(name)
        if (german) await this.ask('PUT', `/${kind}/${id}/translations/${GERMAN}`, { name: german })
      }
    for (const [kind, mail] of Object.entries(GERMAN_MAILS)) await this.ask('PUT', `/email-templates/${kind}?lang=${GERMAN}`, mail)
  }

  /** What is there beside goods: stories, dates, a booking, a set, and what buyers say. */
  async stories() {
    const now = this.services.clock.now().getTime()
    const look = (variation: number) => ({ material: 'Linen', colour: 'Sand', variation, view: 1 as const })
    for (const [at, { thing, ...post }] of POSTS.entries())
      if (!(await this.ask<{ id?: string }>('GET', `/posts/${post.slug}`)).id)
        await this.ask('POST', '/posts', { ...post, image: await this.picture(thing, look(at + 40), post.slug), status: 'published' })
    for (const [at, { thing, ...event }] of eventsFrom(now).entries())
      if (!(await this.ask<{ event?: unknown }>('GET', `/events/${event.slug}`)).event)
        await this.event({ ...event, images: [await this.picture(thing, look(at + 50), event.slug)] })
    await this.fitting(now)
    const products = await this.products()
    await this.ask('POST', '/bundles', {
      ...{
        name: 'A desk of one’s own',
        slug: 'a-desk-of-ones-own',
        summary: 'Two things that belong together.',
        status: 'published',
        discountPercentage: 12,
      },
      variants: await Promise.all(
        products.slice(3, 5).map(async ({ id }) => ({ variantId: (await this.ask('GET', `/products/${id}`)).variants[0].id, quantity: 1 })),
      ),
    })
    await this.reviews(products)
  }

  /** An event whose tickets are sold in both currencies. */
  async event(event: object) {
    const made = await this.ask<{ event: { product?: { id: string }; productId?: string; id: string } }>('POST', '/events', event)
    const { variants } = await this.ask<{ variants: { id: string; price: number }[] }>(
      'GET',
      `/products/${made.event.productId ?? made.event.id}`,
    )
    for (const { id, price } of variants) await this.ask('PATCH', `/variants/${id}`, { prices: { eur: price } })
  }

  /** A product that is booked: a fitting, at one of the times that are open. */
  async fitting(now: number) {
    if ((await this.ask<{ id?: string }>('GET', '/products/personal-fitting')).id) return
    const image = await this.picture('Overshirt', { material: 'Denim', colour: 'Ink', variation: 61, view: 0 }, 'fitting')
    const fitting = await this.ask<{ variants: { id: string }[] }>('POST', '/products', {
      ...{ name: 'Personal fitting', slug: 'personal-fitting', summary: 'An hour with our tailor, and coffee.', images: [image] },
      variants: [{ name: 'One hour', price: 20, prices: { eur: 20 }, bookable: true, shippable: false, stock: { tracked: false } }],
    })
    const variantId = fitting.variants[0]!.id
    const settings = { location: 'Our workshop', instructor: 'Zoë' }
    for (const time of timesFrom(now))
      await this.ask('POST', '/booking-slots', {
        ...time,
        productVariantId: variantId,
        maxCapacity: 2,
        timezone: ZONE,
        status: 'published',
        settings,
      })
  }

  async reviews(products: readonly Product[]) {
    for (const [at, { id }] of products.slice(0, 9).entries())
      for (const review of REVIEWS.slice(at % 3, (at % 3) + 2)) {
        const email = `${review.author.toLowerCase().replace(/[^a-z]/g, '')}@example.com`
        const { id: reviewId } = await this.ask<{ id?: string }>('POST', `/products/${id}/reviews`, { ...review, email })
        if (reviewId) await this.ask('PATCH', `/reviews/${reviewId}`, { approved: true })
      }
  }
}

/** So often it is looked whether the shop is open. */
const LOOK_MS = 500

/**
 * Dresses the demo store, unless it was published before, and publishes it; one that was restored from a backup is published again. Resolves when
 * it is open. Throws why it is not, and the reason of `signal` when it is to stop.
 */
export async function openDemoShop(config: Config, api: Pick<Api, 'url' | 'port' | 'listensOn'>, signal: AbortSignal) {
  const { registry, close } = await openRegistry(config.database)
  const handles = new Handles(config.database, 4)
  try {
    const store = await registry.storeBySlug(DEMO)
    if (!store?.aiBuilt) return
    const services = await servicesFor(config, { registry, baseUrl: api.url, port: api.port, listensOn: api.listensOn })
    // Asked in this process, and listening to nothing: the servers have their own.
    createApp({ services, handles, version, contentUrl: contentUrlOf(config) })
    await ensureProject(services, store.id)
    const key = (await registry.listKeys(store.id)).find(
      ({ scopes, environment, revokedAt }) => !scopes && environment === 'live' && !revokedAt,
    )
    const last = () =>
      handles.use(
        store.id,
        'live',
        async ({ read }) => (await read.select().from(publishes).orderBy(desc(publishes.createdAt)).limit(1))[0],
      )
    if (!key) throw new Error('it has no key that may do everything')
    const before = await last()
    if (!before) await new Dresser(services, { store, key, scopes: null, environment: 'live' }, signal).all()
    const { clock } = services
    if (!before || before.running === null) {
      await handles.use(store.id, 'live', (live) =>
        beginPublish({ store: live, services, storeId: store.id, moment: { clock, now: clock.now().toISOString() } }),
      )
      await leaveWord(registry.control, { storeId: store.id, environment: 'live' }, clock.now())
    }
    for (let row = await last(); row?.running !== null; row = await last()) {
      signal.throwIfAborted()
      await Bun.sleep(LOOK_MS)
    }
    const ended = await last()
    if (ended?.status === 'failed') throw new Error(ended.reason ?? 'its build has failed')
  } finally {
    handles.close()
    close()
  }
}
