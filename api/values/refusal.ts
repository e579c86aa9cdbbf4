/** Everything that the API refuses, in one form: a status and `{error, details?, hint?, …}` (document 1, Errors). */

/** One failed check of a request: `code` is one of document 3's list, `path` names the field. */
export interface Detail {
  code: 'invalid_type' | 'required' | 'too_small' | 'too_big' | 'invalid_string' | 'invalid_enum_value' | 'unrecognized_keys' | 'custom'
  message: string
  path: string[]
  minimum?: number
  maximum?: number
  options?: unknown[]
  keys?: string[]
  pattern?: string
}

/** The statuses whose reader has something to look up. */
const DOCUMENTED = new Set([400, 403, 404, 409])

/** May be thrown anywhere below a route; it is answered once, and what was written before it is undone. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly extra: Record<string, unknown> = {},
    readonly headers: Record<string, string> = {},
  ) {
    super(message)
  }

  /** The same, with the page that says more (document 8, Strictness). */
  at(documentationUrl: string): Refusal {
    if (!DOCUMENTED.has(this.status) || this.extra.documentationUrl) return this
    return new Refusal(this.status, this.message, { ...this.extra, documentationUrl }, this.headers)
  }

  get body() {
    return { error: this.message, ...this.extra }
  }
}

/** 404 for a resource: the same words for one that is missing and one that is another store's. */
export const missing = (what: string) => new Refusal(404, `${what} not found`)

/** 409: the state of a resource, or another resource, stands against it. */
export const conflict = (message: string, extra: Record<string, unknown> = {}) => new Refusal(409, message, extra)

/** 400 with details; `error` is the first of their messages. */
export const invalid = (details: Detail[]) =>
  new Refusal(
    400,
    details[0] ? `${details[0].path.length ? `${details[0].path.join('.')}: ` : ''}${details[0].message}` : 'invalid request',
    { details },
  )

/** 400 of one field that a rule over several fields, or the database, refuses. */
export const wrong = (path: string | string[], message: string) =>
  invalid([{ code: 'custom', message, path: typeof path === 'string' ? path.split('.') : path }])

/** Something that went wrong and that the store's merchant may read: it tells of what is theirs, and nothing of the server. */
export class Told extends Error {}

/** What a merchant may read of an error; null for one that is the operator's alone. */
export const toldOf = (error: unknown): string | null => (error instanceof Told || error instanceof Refusal ? error.message : null)
