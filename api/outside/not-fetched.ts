/** Why something on the network was not read. */

/** What stood in the way. */
export type Hindrance =
  /** The address can't be asked for: another scheme, a user in it, a port, a place that is not public. */
  | 'refused-here'
  | 'no-host'
  | 'refused'
  | 'reset'
  | 'silent'
  | 'not-http'
  | 'certificate'
  | 'redirects'
  | 'status'
  | 'too-large'
  | 'late'
  | 'interrupted'

/** Its message is for whoever gave the address, and names no IP address. One that is not final may be read later. */
export class NotFetched extends Error {
  constructor(
    message: string,
    readonly isFinal: boolean,
    readonly hindrance: Hindrance,
  ) {
    super(message)
  }
}
/** There is more than may be read. */
export class TooLarge extends NotFetched {}

/** What will not be read later either. */
export const never = (hindrance: Hindrance, message: string) => new NotFetched(message, true, hindrance)
/** What may be there another time. */
export const notNow = (hindrance: Hindrance, message: string) => new NotFetched(message, false, hindrance)
