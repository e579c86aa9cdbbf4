/** The page on which a buyer writes reviews of what was in an order: no key, the link of the mail that asks for them. */
import { eq } from 'drizzle-orm'
import type { Reader } from '../../../db/driver.ts'
import { orderLines, orders } from '../../../db/store/orders.ts'
import { unwantedMails } from '../../../db/store/pages.ts'
import { products } from '../../../db/store/catalog.ts'
import { addReview } from '../../content/reviews/review.ts'
import { settingsIn } from '../../http/call.ts'
import { screen } from '../../content/visitors/submission.ts'
import { asking, done, page } from '../../store/links/page.ts'
import { resource, type Call } from '../../http/route.ts'
import { Body, Label, Text, Type, Uuid } from '../../http/schema.ts'
import { refusalPage, unknownLink } from '../../store/links/link-owner.ts'
import { html } from '../../values/html.ts'
import { Refusal } from '../../values/refusal.ts'
import { orderOfLink } from './review-link.ts'

const PRODUCTS_MAX = 20
const fields = { productId: Uuid(), author: Label(100), content: Text(1, 5_000) }
const Written = Body(
  'OrderReviewInput',
  [{ productId: '01985d2c-7c00-7a07-8be3-e3af2ffefb45', author: 'Ada', content: 'Softer with every wash.', rating: 5 }],
  { ...fields, rating: Type.Integer({ minimum: 1, maximum: 5 }) },
)
/** A browser sends its fields as text. */
const WrittenForm = Type.Object(
  { ...fields, rating: Type.String({ pattern: '^[1-5]$' }) },
  { examples: [{ productId: '01985d2c-7c00-7a07-8be3-e3af2ffefb45', author: 'Ada', content: 'Softer with every wash.', rating: '5' }] },
)

type LinkCall = Pick<Call<unknown, unknown, { token: string }>, 'params' | 'request' | 'services'>
async function owner(call: LinkCall) {
  const named = orderOfLink(call.services, call.params.token)
  if (!named || !(await call.services.registry.store(named.storeId))) return unknownLink(call)
  return { ...named, prepared: named.orderId }
}

/** What was bought in an order and is still there, each product once; and its buyer. */
async function boughtIn(db: Reader, orderId: string) {
  if (!(await settingsIn(db)).tools.reviews) return null
  const [order] = await db.select({ email: orders.email, name: orders.name }).from(orders).where(eq(orders.id, orderId))
  if (!order) return null
  const things = await db
    .selectDistinct({ id: products.id, name: products.name })
    .from(orderLines)
    .innerJoin(products, eq(products.id, orderLines.productId))
    .where(eq(orderLines.orderId, orderId))
    .limit(PRODUCTS_MAX)
  return { ...order, things }
}

const nothing = () => done('Nothing to review', 'What you bought is no longer in the shop, or the shop takes no reviews.', 404)

async function form(db: Reader, orderId: string, note = '') {
  const bought = await boughtIn(db, orderId)
  if (!bought?.things.length) return nothing()
  return page(
    'Write a review',
    html`<h1>Write a review</h1>
      ${note && html`<p role="status"><strong>${note}</strong></p>`}
      ${bought.things.map(
        ({ id, name }) =>
          html`<article>
            <h2>${name}</h2>
            <form method="post" enctype="multipart/form-data">
              <input type="hidden" name="productId" value="${id}" />
              <label for="rating-${id}">Stars</label>
              <select id="rating-${id}" name="rating">
                ${[5, 4, 3, 2, 1].map((n) => html`<option value="${n}">${'★'.repeat(n)}</option>`)}
              </select>
              <label for="author-${id}">Your name, as it will be shown</label>
              <input id="author-${id}" name="author" required maxlength="100" value="${bought.name?.split(' ')[0]}" />
              <label for="content-${id}">Your review</label>
              <textarea id="content-${id}" name="content" required maxlength="5000"></textarea>
              <p><button>Send</button></p>
            </form>
          </article>`,
      )}`,
  )
}

const common = {
  scope: 'public' as const,
  owner,
  ownerByPath: true as const,
  refusalPage,
  responses: { 200: 'text/html', 404: 'text/html' } as const,
}

export const reviewPages = resource('content', '/reviews')
  .get(
    '/write/{token}',
    { operationId: 'showReviewForm', summary: 'The page behind the link of a mail that asks for a review', ...common, refuses: [404] },
    ({ db, prepared }) => form(db, prepared as string),
  )
  .post(
    '/write/{token}',
    {
      operationId: 'writeOrderReview',
      summary: 'Write a review of something in an order',
      description: 'What the form of the page does. It is shown once somebody has approved it.',
      ...common,
      body: Written,
      upload: WrittenForm,
      refuses: [404],
    },
    async (call) => {
      const { db, body, clock, now, prepared, write } = call
      call.countSubmission()
      const bought = await boughtIn(db, prepared as string)
      const [author, content] = [body.author.trim(), body.content.trim()]
      if (!bought?.things.some(({ id }) => id === body.productId)) return nothing()
      if (!author || !content) return form(db, prepared as string, 'Please write a name and a text.')
      const own = { productId: body.productId, author, content, email: bought.email, rating: Number(body.rating) }
      try {
        await write(async (tx) => {
          const signals = await screen(tx, { ...call, body: {} }, { kind: 'review', about: own.productId, email: own.email, text: content })
          await addReview(tx, { clock, now }, { ...own, signals: { ...signals, form: 'valid' } })
        })
      } catch (error) {
        if (error instanceof Refusal && error.status === 409) return form(db, prepared as string, 'You have sent this already.')
        throw error
      }
      return form(db, prepared as string, 'Thank you. It is shown once it was read.')
    },
  )
  .get(
    '/stop/{token}',
    {
      operationId: 'showStopReviewRequests',
      summary: 'The page behind the way out of a mail that asks for a review',
      description: 'One button. Looking at it changes nothing.',
      ...common,
      refuses: [404],
    },
    () => asking('No more of these mails?', 'You will not be asked for reviews again.', 'Do not ask me again'),
  )
  .post(
    '/stop/{token}',
    {
      operationId: 'stopReviewRequests',
      summary: 'Want no mails that ask for reviews',
      description: 'What the button of the page does, and the one click of mail programs (RFC 8058). Works any number of times.',
      ...common,
      refuses: [404],
    },
    async ({ db, prepared, write, now }) => {
      const [order] = await db
        .select({ email: orders.email })
        .from(orders)
        .where(eq(orders.id, prepared as string))
      if (order)
        await write(
          async (tx) =>
            void (await tx
              .insert(unwantedMails)
              .values({ email: order.email, kind: 'review-request', createdAt: now })
              .onConflictDoNothing()),
        )
      return done('No more of these mails', 'You will not be asked for reviews again.')
    },
  )
