/** The errors of the content API: problem details (RFC 9457), each explained in the documentation. */

const TITLES = {
  api_route_not_found: 'There is no such endpoint',
  document_not_found: 'There is no such document',
  missing_parameter: 'A parameter is missing',
  invalid_parameter: 'The request can not be understood',
  not_acceptable: 'No form of this page is acceptable',
  method_not_allowed: 'This can only be read',
  uri_too_long: 'The path is too long',
  rate_limited: 'Too many requests',
  upstream_unavailable: 'Another service did not answer',
  overloaded: 'Too much is asked for at once',
  internal_error: 'Something went wrong here',
} as const

type ProblemCode = keyof typeof TITLES
export const PROBLEM_CODES = Object.keys(TITLES) as ProblemCode[]

/** The page that explains problems; each code is a heading of it. */
export const EXPLAINED_AT = '/docs/api-reference/overview'

export interface Problem {
  status: number
  code: ProblemCode
  detail: string
  resolution: string
}

/** The body of a problem; `instance` is the URL that was asked for. */
export function problemBody({ status, code, detail, resolution }: Problem, base: string, instance: string): string {
  const type = `${base}${EXPLAINED_AT}#${code}`
  return JSON.stringify({ type, title: TITLES[code], status, detail, instance, code, resolution, documentationUrl: type })
}
