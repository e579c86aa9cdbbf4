/** What may happen when an operation is called, as MCP tells clients, who ask a person by it. */
import type { Method, Route } from '../http/route.ts'

interface Hints {
  /** It changes nothing. */
  readOnlyHint: boolean
  /** It may change or end what is there, or do what can't be taken back; otherwise it adds. */
  destructiveHint: boolean
  /** Called again with the same arguments, it changes nothing more. */
  idempotentHint: boolean
  /** It reaches people, or servers of others. */
  openWorldHint: boolean
}

const ADDS: Hints = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false }
const READS: Hints = { ...ADDS, readOnlyHint: true, idempotentHint: true }
const REPLACES: Hints = { ...ADDS, destructiveHint: true, idempotentHint: true }
const ENDS: Hints = { ...ADDS, destructiveHint: true }
const REACHES: Hints = { ...ADDS, openWorldHint: true }
const ASKS: Hints = { ...REACHES, idempotentHint: true }

const OF_METHOD: Record<Method, Hints> = { GET: READS, POST: ADDS, PUT: REPLACES, PATCH: REPLACES, DELETE: REPLACES }

/** Operations of which their method does not say all: each POST that neither creates nor adds is among them. */
const OF_OPERATION: Readonly<Record<string, Hints>> = {
  acceptTeamInvitation: ADDS,
  adjustLoyaltyPoints: ENDS,
  attachDomain: REACHES,
  cancelBooking: ENDS,
  cancelFeedbackSession: ENDS,
  cancelNewsletter: ENDS,
  cancelOrder: { ...ENDS, openWorldHint: true },
  changeInventory: ENDS,
  // It may take some off.
  changeStock: ENDS,
  checkIn: ADDS,
  checkOutCart: { ...ENDS, openWorldHint: true },
  confirmBooking: REACHES,
  connectCarrierA: { ...REPLACES, openWorldHint: true },
  connectCarrierB: { ...REPLACES, openWorldHint: true },
  connectCarrierC: { ...REPLACES, openWorldHint: true },
  createMedia: REACHES,
  createRefund: { ...ENDS, openWorldHint: true },
  createShipment: REACHES,
  createSupportCase: REACHES,
  createSupportMessage: REACHES,
  createWebhook: REACHES,
  declineBooking: { ...ENDS, openWorldHint: true },
  finalizeFeedbackSession: ENDS,
  inviteTeamMember: REACHES,
  moderateComments: ENDS,
  moderateReviews: ENDS,
  previewEmailTemplate: READS,
  processFeedbackSession: ADDS,
  publish: ENDS,
  redeliverWebhook: REACHES,
  repeatBookingSlot: ADDS,
  retryJob: REACHES,
  retryNewsletter: REACHES,
  rotateApiKey: ENDS,
  rotateWebhookSecret: ENDS,
  sendNewsletter: { ...ENDS, openWorldHint: true },
  sendTickets: REACHES,
  testWebhook: REACHES,
  transferOwnership: ENDS,
  verifyDomain: ASKS,
  verifyEmailDomain: ASKS,
}

export const hintsOf = ({ method, options }: Route): Hints => OF_OPERATION[options.operationId] ?? OF_METHOD[method]
/** The operations that have hints of their own. */
export const HINTED = Object.keys(OF_OPERATION)
