/** Identifiers of another store in bodies: whoever sends one is answered as if nothing had it. */
import { afterAll, test } from 'vitest'
import { nobody, resolve, type Json } from './operations.ts'
import { referred } from './seed.ts'
import { each, world } from './world.ts'

const { app, document, keyed, known, foreign, caller, somewhere, bodyOf } = await world()
afterAll(() => app.close())

/** What holds the things that a field of such a name means, where its name alone does not say so. */
const MEANS: Record<string, string> = {
  parentId: '/categories',
  scopeIds: '/products',
  memberId: '/team',
  memberIds: '/team',
  ids: '/reviews',
}
/** Fields that are called so and mean nothing of a store's own. */
const NO_IDENTIFIERS = ['orgId']

/** What else a body has to say for a field of it to be looked at. */
const WITH: Record<string, () => Json> = {
  'createProduct variants.*.taxRateId': () => ({ price: undefined, sku: undefined, stock: undefined, variants: [{ price: 1 }] }),
  'addCartItem bundleId': () => ({ variantId: undefined }),
  'createRefund lines.*.lineId': () => ({ amountCents: undefined, lines: [{ quantity: 1 }] }),
  'createShipment lines.*.lineId': () => ({ lines: [{ quantity: 1 }] }),
  'createLoyaltyCampaign scopeIds.*': () => ({ scope: 'PRODUCT_IDS' }),
  'updateLoyaltyCampaign scopeIds.*': () => ({ scope: 'PRODUCT_IDS' }),
  'createNewsletter products.*.variantId': () => ({ products: [{ productId: known.get('/products') }] }),
  'updateNewsletter products.*.variantId': () => ({ products: [{ productId: known.get('/products') }] }),
  'createWorkstation memberIds.*': () => ({ name: crypto.randomUUID(), position: 1 }),
}
/** Whoever has left the team may stand in a list still, so these are not refused but left out. */
const LEFT_OUT = 'memberIds'

/** Those that are gone are passed over, and so are another store's: nothing is changed by them. */
const PASSED_OVER = 'ids'

/** The way to a field, `*` for the entries of a list. */
type Way = string[]

/** The fields of a body that hold identifiers: those that are UUIDs, or are called so. */
function identifiers(schema: Json, way: Way = []): Way[] {
  const { anyOf = [], items, properties = {}, format } = resolve(document, schema)
  const name = way.findLast((step) => step !== '*') ?? ''
  if (format === 'uuid' || (/Ids?$/.test(name) && !items && !anyOf.length)) return [way]
  return [
    ...anyOf.flatMap((part: Json) => identifiers(part, way)),
    ...(items ? identifiers(items, [...way, '*']) : []),
    ...Object.entries(properties as Record<string, Json>).flatMap(([field, part]) => identifiers(part, [...way, field])),
  ]
}

/** A body with something else at the end of a way. */
function changed(body: any, [step, ...rest]: Way, value: unknown): unknown {
  if (step === undefined) return value
  if (step === '*') return [changed(body?.[0], rest, value)]
  return { ...body, [step]: changed(body?.[step], rest, value) }
}

/** What two answers may differ in: what was sent, and what is made anew each time. */
const plain = (text: string) => text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id').replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'at')

test('in bodies get the answer of one that nothing has', () =>
  each(
    keyed.filter(({ body }) => body),
    async (operation, find) => {
      const ways = new Map(identifiers(operation.body!.schema).map((way) => [way.join('.'), way]))
      for (const [at, way] of ways) {
        const name = way.findLast((step) => step !== '*')!
        if (NO_IDENTIFIERS.includes(name)) continue
        const id = MEANS[name] ? foreign.get(MEANS[name]) : referred(foreign, name)
        if (id === undefined) {
          find(`${at} is of a kind of which no other store has any here`)
          continue
        }
        const send = (value: string) => {
          const body = { ...bodyOf(operation), ...WITH[`${operation.id} ${at}`]?.() }
          return caller.call(operation, somewhere(operation), changed(body, way, value))
        }
        const [none, theirs] = [await send(nobody()), await send(id)]
        const field = way.filter((step) => step !== '*')
        const isNamed = none.body.details?.some(({ path }: Json) => field.every((step) => path.includes(step)))
        if (
          name === LEFT_OUT
            ? none.body[name]?.length !== 0
            : name === PASSED_OVER
              ? none.body.changed !== 0
              : none.status !== 404 && !isNamed
        )
          find(`${at} that nothing has is not refused`, none)
        if (theirs.status !== none.status || plain(theirs.text) !== plain(none.text))
          find(`${at} is answered otherwise than ${none.status} ${none.text.slice(0, 150)}`, theirs)
      }
    },
  ))
