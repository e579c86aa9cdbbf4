/** The job that cancels what nobody has paid; there is one for each store. */
export const UNPAID = { kind: 'orders.unpaid', subject: 'all' }
