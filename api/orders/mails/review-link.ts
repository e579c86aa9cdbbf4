/** The link with which a buyer writes reviews of what was in an order: it names the store and the order, and nobody else can make it. */
import type { Environment } from '../../../db/open.ts'
import type { Owner } from '../../outside/files.ts'
import type { Services } from '../../outside/services.ts'

const PLACE = 'review of an order'

/** Where the buyer of an order writes reviews, and where they say that they will write none. */
export function reviewLinks(
  { secrets, mailers }: Pick<Services, 'secrets' | 'mailers'>,
  { storeId, environment }: Owner,
  orderId: string,
): Record<'write' | 'stop', string> {
  const token = secrets.seal([storeId, environment, orderId], PLACE)
  const at = (page: string) => `${mailers.baseUrl}/api/v1/reviews/${page}/${token}`
  return { write: at('write'), stop: at('stop') }
}

/** The order that a link is about; null for what is no such link. */
export function orderOfLink({ secrets }: Pick<Services, 'secrets'>, token: string): (Owner & { orderId: string }) | null {
  const opened = secrets.open<[string, Environment, string]>(token, PLACE)
  return opened && { storeId: opened[0], environment: opened[1], orderId: opened[2] }
}
