/** The security of a page as Mozilla's HTTP Observatory (algorithm 4) grades it: 100, and what each check adds or takes. */
import {
  contentSecurityPolicy,
  contentTypeOptions,
  embedderPolicy,
  frameOptions,
  openerPolicy,
  referrerPolicy,
  resourcePolicy,
  resourceSharing,
  strictTransportSecurity,
} from './headers.ts'
import { cookies, redirection, subresourceIntegrity } from './others.ts'
import { OUTCOMES, type CheckId, type Outcome } from './outcomes.ts'
import type { Found, Seen } from './seen.ts'

/** Bonuses count where the faults alone leave this much. */
const BONUS_LEAST = 90
/** Of what was looked at, in characters. */
const VALUE_MAX = 500

const GRADES = [
  [100, 'A+'],
  [90, 'A'],
  [85, 'A-'],
  [80, 'B+'],
  [70, 'B'],
  [65, 'B-'],
  [60, 'C+'],
  [50, 'C'],
  [45, 'C-'],
  [40, 'D+'],
  [30, 'D'],
  [25, 'D-'],
  [0, 'F'],
] as const
export type Grade = (typeof GRADES)[number][1]
export const GRADE_NAMES: readonly Grade[] = GRADES.map(([, name]) => name)

/** The grade of a score. */
export const gradeOf = (score: number): Grade => GRADES.find(([least]) => score >= least)?.[1] ?? 'F'

const CHECKS: Record<CheckId, (seen: Seen) => Found> = {
  'content-security-policy': contentSecurityPolicy,
  'strict-transport-security': strictTransportSecurity,
  'x-frame-options': frameOptions,
  'x-content-type-options': contentTypeOptions,
  'referrer-policy': referrerPolicy,
  redirection,
  cookies,
  'cross-origin-resource-sharing': resourceSharing,
  'subresource-integrity': subresourceIntegrity,
  'cross-origin-resource-policy': resourcePolicy,
  'cross-origin-embedder-policy': embedderPolicy,
  'cross-origin-opener-policy': openerPolicy,
}
export const CHECK_IDS = Object.keys(CHECKS) as CheckId[]

interface Checked {
  id: CheckId
  pass: boolean
  /** Points that it adds or takes. */
  modifier: number
  /** What was looked at; null where there is nothing. */
  value: string | null
  result: string
  /** Null where there is nothing to be done. */
  recommendation: string | null
  /** False where the platform does not let a merchant set it. */
  controllable: boolean
}

export interface Security {
  grade: Grade
  score: number
  checks: Checked[]
}

/** Grades a page. `locked` are the checks that its merchant can't change. */
export function gradeSecurity(seen: Seen, locked: readonly string[] = []): Security {
  const checks = CHECK_IDS.map((id): Checked => {
    const { outcome, value } = CHECKS[id](seen)
    const { modifier, pass = modifier >= 0, result, recommendation } = (OUTCOMES[id] as Record<string, Outcome>)[outcome]!
    const shown = value === null ? null : value.slice(0, VALUE_MAX).toWellFormed()
    return { id, pass, modifier, value: shown, result, recommendation, controllable: !locked.includes(id) }
  })
  const faults = checks.reduce((sum, { modifier }) => sum + Math.min(0, modifier), 100)
  const score = Math.max(0, faults >= BONUS_LEAST ? checks.reduce((sum, { modifier }) => sum + modifier, 100) : faults)
  return { grade: gradeOf(score), score, checks }
}
