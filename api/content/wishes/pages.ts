/** The pages behind the links in mails about what is back: no key, a token; looking changes nothing, the button does. */
import { asking, done } from '../../store/links/page.ts'
import { resource } from '../../http/route.ts'
import { linkOwner, refusalPage } from '../../store/links/link-owner.ts'
import { byToken, confirmWish, findWanted, stop } from './notification.ts'

const common = {
  scope: 'public' as const,
  responses: { 200: 'text/html', 404: 'text/html' },
  refuses: [404],
  owner: linkOwner,
  refusalPage,
}

export const availabilityPages = resource('content', '/availability-notifications')
  .get(
    '/stop/{token}',
    {
      operationId: 'showStopNotification',
      summary: 'The page behind the way out of a mail',
      description: 'One button. Looking at it changes nothing.',
      ...common,
    },
    () =>
      asking(
        'No mail about it?',
        'You will not be told when it can be bought again, and asked first should this address be given once more.',
        'No mail, please',
      ),
  )
  .post(
    '/stop/{token}',
    {
      operationId: 'stopNotification',
      summary: 'Want no mail about a variant',
      description: 'What the button of the page does, and the one click of mail programs (RFC 8058). Works any number of times.',
      ...common,
    },
    async ({ db, params, write, clock, now }) => {
      if (await byToken(db, params.token)) await write((tx) => stop(tx, { clock, now }, params.token))
      return done('No mail', 'You will not be told about it.')
    },
  )
  .get(
    '/confirm/{token}',
    {
      operationId: 'showNotificationConfirmation',
      summary: 'The page behind the question whether somebody wants a mail',
      description: 'One button. Looking at it changes nothing.',
      ...common,
    },
    async ({ db, params }) => {
      const row = await byToken(db, params.token)
      const wanted = row && (await findWanted(db, row.variantId))
      return asking(
        'Shall we tell you?',
        wanted ? `One mail, once ${wanted.productName} can be bought again.` : 'One mail, once it can be bought again.',
        'Yes, tell me',
      )
    },
  )
  .post(
    '/confirm/{token}',
    { operationId: 'confirmNotification', summary: 'Confirm that a mail is wanted', ...common },
    async ({ db, params, write, clock, now }) => {
      const isIn = (await byToken(db, params.token)) !== undefined && (await write((tx) => confirmWish(tx, { clock, now }, params.token)))
      if (!isIn) return done('Please ask again', 'This link is no longer good.')
      return done('Thank you', 'You will get one mail about it.')
    },
  )
