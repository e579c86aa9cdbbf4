/** The store that the token of a link names, and what is shown to who follows one that leads nowhere. */
import { done } from './page.ts'
import type { Call } from '../../http/route.ts'
import { isBrowser } from '../../http/url.ts'
import { missing, type Refusal } from '../../values/refusal.ts'
import { ownerOfToken } from './link-token.ts'

type LinkCall = Pick<Call<unknown, unknown, { token: string }>, 'params' | 'request' | 'services'>

/** For a person whose browser has followed a link; programs get the error of every 404. */
export function unknownLink({ request }: Pick<LinkCall, 'request'>) {
  if (!isBrowser(request)) throw missing('page')
  return done('This link leads nowhere', 'Perhaps it was cut off: open it from the mail again.', 404)
}

/** The store that a link's token names. */
export async function linkOwner(call: LinkCall) {
  const named = ownerOfToken(call.params.token)
  return named && (await call.services.registry.store(named.storeId)) ? named : unknownLink(call)
}

/** What a person is shown whose form was refused. */
export const refusalPage = ({ status, body }: Refusal) =>
  done('That did not work', `${String(body.error)}. Go back in your browser: what you wrote is still there.`, status)
