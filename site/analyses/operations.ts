/** The analyses of storefronts (document 6): the operations of the content API that leave this machine. */

interface Operation {
  /** The path of its JSON. */
  path: string
  /** Requests a minute for each client address (document 2, Limits). */
  perMinute: number
  /** The longest time in ms for all of it. */
  maxMs: number
}

export const OPERATIONS = {
  'store-scan': { path: '/api/store-scan', perMinute: 10, maxMs: 12_000 },
  pagespeed: { path: '/api/pagespeed', perMinute: 5, maxMs: 90_000 },
  'fetch-page-meta': { path: '/api/fetch-page-meta', perMinute: 20, maxMs: 12_000 },
} as const satisfies Record<string, Operation>

export type OperationName = keyof typeof OPERATIONS
export const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[]

/** The name of the operation at a path; null for any other path. */
export const operationAt = (path: string): OperationName | null => OPERATION_NAMES.find((name) => OPERATIONS[name].path === path) ?? null

/** The page of the store scan, which is made anew for each request. */
export const SCAN = '/scan'

/** Whether requests for a path are for the analyses: what they need is loaded when first one comes. */
export const isAnalysis = (path: string): boolean => operationAt(path) !== null || path === SCAN || path === `${SCAN}.md`
