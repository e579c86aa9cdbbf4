/** Time, ids and secrets: what tests hold still. */
export interface Clock {
  now(): Date
  id(): string
  /** A capability token of 128 random bits. */
  secret(): string
}

/** The clock, and the instant of the change as it goes on the wire. */
export interface Moment {
  clock: Clock
  now: string
}

/** The clock of the machine, with ids that sort by time. */
export const realClock: Clock = {
  now: () => new Date(),
  id: () => Bun.randomUUIDv7(),
  secret: () => Buffer.from(crypto.getRandomValues(new Uint8Array(20))).toString('hex'),
}
