/** The pages behind the links in mails (document 3; RFC 8058): no key, a token; looking changes nothing, the button does. */
import { eq } from 'drizzle-orm'
import type { Reader } from '../../../db/driver.ts'
import { subscribers } from '../../../db/store/newsletters.ts'
import { settings } from '../../../db/store/store.ts'
import { asking, done } from '../../store/links/page.ts'
import { resource } from '../../http/route.ts'
import { confirm, unsubscribe } from './subscribing.ts'
import { linkOwner, refusalPage } from '../../store/links/link-owner.ts'

type Token = typeof subscribers.token | typeof subscribers.confirmToken
const isKnown = async (db: Reader, column: Token, token: string) => (await db.$count(subscribers, eq(column, token))) > 0
const nameOf = async (db: Reader) => (await db.select({ name: settings.name }).from(settings))[0]!.name

const common = {
  scope: 'public' as const,
  responses: { 200: 'text/html', 404: 'text/html' },
  refuses: [404],
  owner: linkOwner,
  refusalPage,
}

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
