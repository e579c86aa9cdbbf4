/**
 * A double of Stripe's API on loopback, in its wire format: form-encoded requests, JSON answers with object types, idempotency keys,
 * and errors as `{error: {type, code, message}}`. It also makes the signed events that Stripe would send.
 */
import type { Server } from 'bun'

type Json = Record<string, any>
/** One request as it came in. */
interface Seen {
  method: string
  path: string
  form: Record<string, string>
  query: Record<string, string>
  idempotencyKey: string | null
}
export interface SignedEvent {
  id: string
  payload: string
  signature: string
}

export interface StripeDouble {
  /** What `STRIPE_API_BASE` would be. */
  url: string
  secretKey: string
  webhookSecret: string
  intents: Map<string, Json>
  refunds: Map<string, Json>
  seen: Seen[]
  /** `down` answers 500 to everything; `hanging` answers nothing until it is well again. */
  mood: 'well' | 'down' | 'hanging'
  /** What a new refund is at first. */
  refundsAre: 'succeeded' | 'pending' | 'failed' | 'requires_action'
  /** Runs while a request waits for its answer: what happens in the world meanwhile. */
  meanwhile: ((seen: Seen) => Promise<unknown>) | null
  /** The buyer pays. */
  pay(intentId: string): Json
  /** The bank has done with a refund. */
  settle(refundId: string, status: 'succeeded' | 'failed' | 'canceled'): Json
  /** Idempotency keys are kept for 24 hours only. */
  forgetKeys(): void
  /** An event about an object, signed as Stripe signs it, at a time in seconds. */
  event(type: string, object: Json, options?: { id?: string; at?: number; secret?: string }): SignedEvent
  reset(): void
  close(): void
}

class StripeError extends Error {
  constructor(
    readonly status: number,
    readonly type: string,
    readonly code: string | undefined,
    message: string,
  ) {
    super(message)
  }
}
const invalid = (code: string, message: string) => new StripeError(400, 'invalid_request_error', code, message)

/** `metadata[storeId]=x` as `{metadata: {storeId: 'x'}}`. */
function nested(form: Record<string, string>): Json {
  const result: Json = {}
  for (const [name, value] of Object.entries(form)) {
    const [head, ...rest] = name.split(/[[\]]+/).filter(Boolean)
    if (!rest.length) result[head!] = value
    else (result[head!] ??= {})[rest[0]!] = value
  }
  return result
}

/** Stripe's own rule of decimals: some currencies have two that must be zero, or three of which the last must be. */
function requireCarried(amount: number, currency: string) {
  const step = /^(isk|ugx)$/.test(currency) ? 100 : /^(bhd|jod|kwd|omr|tnd)$/.test(currency) ? 10 : 1
  if (amount % step)
    throw invalid(
      'invalid_charge_amount_no_decimal_compatible',
      `Invalid amount. Currency ${currency.toUpperCase()} has amounts that must be evenly divisible by ${step}.`,
    )
}

const hmac = (secret: string, text: string) => new Bun.CryptoHasher('sha256', secret).update(text).digest('hex')
const random = (prefix: string) => `${prefix}_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`
const json = (status: number, body: Json, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', 'request-id': random('req'), ...headers } })

export function stripeDouble(): StripeDouble {
  let kept = new Map<string, { text: string; status: number; body: Json }>()
  const double = {
    secretKey: random('sk_test'),
    webhookSecret: random('whsec'),
    intents: new Map<string, Json>(),
    refunds: new Map<string, Json>(),
    seen: [] as Seen[],
    mood: 'well',
    refundsAre: 'succeeded',
    meanwhile: null,
  } as unknown as StripeDouble
  const now = () => Math.floor(Date.now() / 1000)

  function createIntent({ amount, currency, metadata = {}, receipt_email = null, automatic_payment_methods }: Json): Json {
    if (!/^\d+$/.test(amount ?? '')) throw invalid('parameter_invalid_integer', 'Invalid integer: amount')
    if (Number(amount) < 50) throw invalid('amount_too_small', 'Amount must be at least $0.50 usd')
    if (!/^[a-z]{3}$/.test(currency ?? '')) throw invalid('parameter_invalid', 'Invalid currency')
    requireCarried(Number(amount), currency)
    const id = random('pi')
    const intent = {
      id,
      object: 'payment_intent',
      amount: Number(amount),
      amount_received: 0,
      currency,
      client_secret: `${id}_secret_${random('x').slice(2)}`,
      created: now(),
      livemode: false,
      metadata,
      receipt_email,
      automatic_payment_methods: automatic_payment_methods ?? null,
      status: 'requires_payment_method',
      canceled_at: null,
    }
    double.intents.set(id, intent)
    return intent
  }

  function find(among: Map<string, Json>, what: string, id: string): Json {
    const found = among.get(id)
    if (!found)
      throw new StripeError(what === 'refund' ? 404 : 400, 'invalid_request_error', 'resource_missing', `No such ${what}: '${id}'`)
    return found
  }

  function cancelIntent(id: string): Json {
    const intent = find(double.intents, 'payment_intent', id)
    if (['succeeded', 'processing', 'canceled'].includes(intent.status))
      throw invalid('payment_intent_unexpected_state', `You cannot cancel this PaymentIntent because it has a status of ${intent.status}.`)
    return Object.assign(intent, { status: 'canceled', canceled_at: now() })
  }

  function createRefund({ payment_intent, amount, metadata = {} }: Json): Json {
    const intent = find(double.intents, 'payment_intent', payment_intent ?? '')
    if (intent.status !== 'succeeded')
      throw invalid('payment_intent_unexpected_state', 'This PaymentIntent does not have a successful charge to refund.')
    requireCarried(Number(amount), intent.currency)
    const before = [...double.refunds.values()]
      .filter((other) => other.payment_intent === intent.id && !['failed', 'canceled'].includes(other.status))
      .reduce((sum, other) => sum + other.amount, 0)
    if (Number(amount) > intent.amount_received - before)
      throw invalid(
        'charge_already_refunded',
        `Refund amount (${amount}) is greater than unrefunded amount on charge (${intent.amount_received - before})`,
      )
    const refund = {
      id: random('re'),
      object: 'refund',
      amount: Number(amount),
      currency: intent.currency,
      created: now(),
      metadata,
      payment_intent: intent.id,
      reason: null,
      status: double.refundsAre,
    }
    double.refunds.set(refund.id, refund)
    return refund
  }

  /** A page of a list, newest first, as Stripe pages: `limit`, and `starting_after` the last one that is known. */
  function listRefunds({ payment_intent, limit = '10', starting_after }: Record<string, string>): Json {
    const all = [...double.refunds.values()].filter((refund) => !payment_intent || refund.payment_intent === payment_intent).toReversed()
    const rest = starting_after ? all.slice(all.findIndex(({ id }) => id === starting_after) + 1) : all
    return { object: 'list', url: '/v1/refunds', data: rest.slice(0, Number(limit)), has_more: rest.length > Number(limit) }
  }

  function act({ method, path, form, query }: Seen): Json {
    const [, , resource, id, action] = path.split('/')
    const body = nested(form)
    if (method === 'POST' && resource === 'payment_intents' && !id) return createIntent(body)
    if (method === 'POST' && resource === 'payment_intents' && action === 'cancel') return cancelIntent(id!)
    if (method === 'GET' && resource === 'payment_intents' && id) return find(double.intents, 'payment_intent', id)
    if (method === 'POST' && resource === 'refunds' && !id) return createRefund(body)
    if (method === 'GET' && resource === 'refunds' && !id) return listRefunds(query)
    if (method === 'GET' && resource === 'refunds' && id) return find(double.refunds, 'refund', id)
    throw new StripeError(404, 'invalid_request_error', undefined, `Unrecognized request URL (${method}: ${path}).`)
  }

  async function answer(request: Request): Promise<Response> {
    const form = Object.fromEntries(new URLSearchParams(await request.text()))
    const seen: Seen = {
      method: request.method,
      path: new URL(request.url).pathname,
      form,
      query: Object.fromEntries(new URL(request.url).searchParams),
      idempotencyKey: request.headers.get('idempotency-key'),
    }
    double.seen.push(seen)
    while (double.mood === 'hanging') await Bun.sleep(5)
    if (double.mood === 'down') return json(500, { error: { type: 'api_error', message: 'Something went wrong on our end.' } })
    if (request.headers.get('authorization') !== `Bearer ${double.secretKey}`)
      return json(401, {
        error: { type: 'invalid_request_error', message: `Invalid API Key provided: ${request.headers.get('authorization')}` },
      })
    if (request.method === 'POST' && !request.headers.get('content-type')?.startsWith('application/x-www-form-urlencoded'))
      return json(400, { error: { type: 'invalid_request_error', message: 'send a form' } })
    const text = JSON.stringify([seen.method, seen.path, form])
    const first = seen.idempotencyKey === null ? undefined : kept.get(seen.idempotencyKey)
    if (first) {
      if (first.text !== text)
        return json(400, {
          error: {
            type: 'idempotency_error',
            message: 'Keys for idempotent requests can only be used with the same parameters they were first used with.',
          },
        })
      return json(first.status, first.body, { 'idempotent-replayed': 'true' })
    }
    let status = 200
    let body: Json
    try {
      body = structuredClone(act(seen))
    } catch (error) {
      if (!(error instanceof StripeError)) throw error
      status = error.status
      body = { error: { type: error.type, code: error.code, message: error.message } }
    }
    if (seen.idempotencyKey !== null) kept.set(seen.idempotencyKey, { text, status, body })
    await double.meanwhile?.(seen)
    return json(status, body)
  }

  const server: Server<undefined> = Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 60, fetch: answer })
  return Object.assign(double, {
    url: `http://127.0.0.1:${server.port}`,
    pay(id: string) {
      const intent = find(double.intents, 'payment_intent', id)
      return structuredClone(Object.assign(intent, { status: 'succeeded', amount_received: intent.amount }))
    },
    settle: (id: string, status: string) => structuredClone(Object.assign(find(double.refunds, 'refund', id), { status })),
    forgetKeys() {
      kept = new Map()
    },
    event(
      type: string,
      object: Json,
      { id = random('evt'), at = now(), secret = double.webhookSecret }: { id?: string; at?: number; secret?: string } = {},
    ) {
      const payload = JSON.stringify(
        {
          id,
          object: 'event',
          api_version: '2026-01-28',
          created: at,
          type,
          livemode: false,
          pending_webhooks: 1,
          request: null,
          data: { object },
        },
        null,
        2,
      )
      return { id, payload, signature: `t=${at},v1=${hmac(secret, `${at}.${payload}`)}` }
    },
    reset() {
      double.seen.length = 0
      Object.assign(double, { mood: 'well', refundsAre: 'succeeded', meanwhile: null })
    },
    close() {
      double.mood = 'well'
      void server.stop(true)
    },
  })
}
