/** The pages behind the links in mails (document 3; RFC 8058): no key, a token; looking changes nothing, the button does. */
import { eq } from 'drizzle-orm'
import type { Reader } from '../../../db/driver.ts'
import { subscribers } from '../../../db/store/newsletters.ts'
import { settings } from '../../../db/store/store.ts'
import { html, type Html } from '../../values/html.ts'
import { missing } from '../../values/refusal.ts'
import { Reply, resource, type Call, type Params } from '../../http/route.ts'
import { confirm, unsubscribe } from './subscribing.ts'
import { ownerOfToken } from '../../store/link-token.ts'

const STYLE =
  ':root{color-scheme:light dark}body{font:18px/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto 0;padding:0 1.5rem;text-align:center}h1{font-size:1.5rem}button{font:inherit;padding:.6rem 1.6rem;border:0;border-radius:.5rem;background:light-dark(#1c1b19,#ece9e2);color:light-dark(#fff,#171614);cursor:pointer}button:focus-visible{outline:3px solid #4a90d9;outline-offset:3px}'

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
}

const page = (title: string, body: Html, status: 200 | 404 = 200) =>
  new Reply(
    status,
    html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width" />
          <title>${title}</title>
          <style>
            ${STYLE}
          </style>
        </head>
        <body>
          <main>${body}</main>
        </body>
      </html>`.text,
    HEADERS,
  )

const asking = (title: string, text: string, button: string) =>
  page(title, html`<h1>${title}</h1><p>${text}</p><form method="post"><button>${button}</button></form>`)
const done = (title: string, text: string, status?: 200 | 404) => page(title, html`<h1>${title}</h1><p>${text}</p>`, status)
/** For a person whose browser has followed a link; programs get the error of every 404. */
const unknown = () => done('This link leads nowhere', 'Perhaps it was cut off: open it from the mail again.', 404)

type Token = typeof subscribers.token | typeof subscribers.confirmToken
const isKnown = async (db: Reader, column: Token, token: string) => (await db.$count(subscribers, eq(column, token))) > 0
const nameOf = async (db: Reader) => (await db.select({ name: settings.name }).from(settings))[0]!.name

/** The store that a link's token names. */
const owner = async ({
  params,
  request,
  services,
}: Pick<Call<unknown, unknown, Params<'/{token}'>>, 'params' | 'request' | 'services'>) => {
  const named = ownerOfToken(params.token)
  if (!named || !(await services.registry.store(named.storeId))) {
    if (request.headers.get('accept')?.toLowerCase().includes('text/html')) return unknown()
    throw missing('page')
  }
  return named
}

const common = { scope: 'public' as const, responses: { 200: 'text/html', 404: 'text/html' }, refuses: [404], owner }

/** The pages of all stores; a token names its own. */
export const subscriberPages = resource('marketing', '/subscribers')
  .get(
    '/unsubscribe/{token}',
    {
      operationId: 'showUnsubscribe',
      summary: 'The page behind the unsubscribe link of a mail',
      description: 'One button. Looking at it changes nothing.',
      ...common,
    },
    async ({ db }) => {
      const name = await nameOf(db)
      return asking('Unsubscribe?', `You will get no more newsletters from ${name}.`, 'Unsubscribe')
    },
  )
  .post(
    '/unsubscribe/{token}',
    {
      operationId: 'unsubscribe',
      summary: 'Unsubscribe',
      description: 'What the button of the page does, and the one click of mail programs (RFC 8058). Works any number of times.',
      ...common,
    },
    async ({ db, params, write, clock, now }) => {
      // A stranger's guess takes no turn in the line of writes; its page says the same.
      if (await isKnown(db, subscribers.token, params.token)) await write((tx) => unsubscribe(tx, { clock, now }, params.token))
      return done('Unsubscribed', `${await nameOf(db)} will send you no more newsletters.`)
    },
  )
  .get(
    '/confirm/{token}',
    {
      operationId: 'showConfirmation',
      summary: 'The page behind the confirmation link of a sign-up',
      description: 'One button. Looking at it changes nothing.',
      ...common,
    },
    async ({ db }) => {
      const name = await nameOf(db)
      return asking('Subscribe?', `You will get the newsletters of ${name}.`, 'Yes, subscribe me')
    },
  )
  .post(
    '/confirm/{token}',
    { operationId: 'confirmSubscription', summary: 'Confirm a sign-up', ...common },
    async ({ db, params, write, clock, now }) => {
      const waits = await isKnown(db, subscribers.confirmToken, params.token)
      const isIn = waits && (await write((tx) => confirm(tx, { clock, now }, params.token)))
      const gone = () => done('Please sign up again', 'This link is no longer good.')
      if (!isIn) return gone()
      return done('Subscribed', `Thank you. ${await nameOf(db)} will send you its newsletters.`)
    },
  )
