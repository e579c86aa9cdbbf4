/** The token of a visitor's form: says when the form was asked for, and by which store. It is no lock: what is odd is told to moderators. */
import type { Signals } from '../../../db/store/visitors.ts'
import { ownerOf } from '../../http/auth.ts'
import type { Call } from '../../http/route.ts'

/** Nobody reads a form and writes a text in less. */
export const LEAST_SECONDS = 3
/** A page that was open for longer than a day. */
export const OLDEST_SECONDS = 86_400

type Needs = Pick<Call, 'services' | 'session' | 'clock'>

const placeOf = (call: Needs) => {
  const { storeId, environment } = ownerOf(call)
  return `form of ${storeId} ${environment}`
}

/** A token for a form that is shown now. */
export const formToken = (call: Needs): string => call.services.secrets.seal(call.clock.now().getTime(), placeOf(call))

/** What a form's token says; `none` for a form that has none. */
export function formOf(call: Needs, token: string | undefined): Signals['form'] {
  if (!token) return 'none'
  const shownAt = call.services.secrets.open<number>(token, placeOf(call))
  if (typeof shownAt !== 'number') return 'wrong'
  const seconds = (call.clock.now().getTime() - shownAt) / 1_000
  return seconds < LEAST_SECONDS ? 'fast' : seconds > OLDEST_SECONDS ? 'old' : 'valid'
}
