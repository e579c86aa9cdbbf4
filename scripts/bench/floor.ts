/**
 * The floor: what this machine can do with the same data in plain code. Bare `Bun.serve` and prepared `bun:sqlite` statements on
 * a copy of the database, with the same durability and the same answers, and without keys, checks, limits and metrics.
 */
import { Database } from 'bun:sqlite'
import { Carts } from './floor-checkout.ts'
import { door } from './floor-door.ts'
import { reads, readShop } from './floor-reads.ts'

const db = new Database(process.argv[2]!, { readwrite: true, create: false })
db.run('PRAGMA journal_mode = WAL')
db.run('PRAGMA synchronous = FULL')
db.run('PRAGMA foreign_keys = ON')

const read = reads(db, readShop(db))
const carts = new Carts(db, read)
const checkIn = door(db)
/** Runs `fn` as one durable transaction. */
const durably = db.transaction(<T>(fn: () => T): T => fn()).immediate

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }
const answer = (status: number, body: unknown, headers = JSON_TYPE) => new Response(JSON.stringify(body), { status, headers })
const missing = () => answer(404, { error: 'not found' })
const found = (body: unknown) => (body ? answer(200, body) : missing())

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  development: false,
  error: (error) => answer(500, { error: error.message }),
  routes: {
    '/api/v1/products': (request) => {
      const { searchParams } = new URL(request.url)
      return found(read.list(Number(searchParams.get('limit')), Number(searchParams.get('offset') ?? 0)))
    },
    '/api/v1/products/:id': (request) => {
      const condition = request.headers.get('if-none-match')
      if (condition !== null && condition === `"${read.changedAt(request.params.id)}"`)
        return new Response(null, { status: 304, headers: { etag: condition } })
      const product = read.product(request.params.id)
      return product ? answer(200, product, { ...JSON_TYPE, etag: `"${product.updatedAt}"` } as typeof JSON_TYPE) : missing()
    },
    '/api/v1/orders/:id': (request) => found(read.order(request.params.id)),
    '/api/v1/carts': {
      POST: () =>
        answer(
          201,
          durably(() => carts.create()),
        ),
    },
    '/api/v1/carts/:id/items': {
      POST: async (request) => {
        const body = (await request.json()) as { variantId: string; quantity: number }
        return answer(
          201,
          durably(() => carts.addItem(request.params.id, body)),
        )
      },
    },
    '/api/v1/tickets/attendee/:token/checkin': {
      POST: async (request) => {
        const { by } = (await request.json()) as { by: string }
        return answer(
          200,
          durably(() => checkIn(request.params.token, by)),
        )
      },
    },
    '/api/v1/carts/:id/checkout': {
      POST: async (request) => {
        const body = (await request.json()) as Record<string, unknown>
        return answer(
          201,
          durably(() => carts.checkOut(request.params.id, body)),
        )
      },
    },
  },
})

process.on('SIGTERM', () => {
  void server.stop(true).then(() => {
    db.close()
    process.exit(0)
  })
})
console.log(`floor http://127.0.0.1:${server.port}`)
