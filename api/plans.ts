/** What each plan allows: the numbers that the store API enforces, and that the pricing page shows. */
export const PLANS = ['starter', 'growth', 'scale'] as const
export type Plan = (typeof PLANS)[number]

export interface PlanLimits {
  /** Recipients of newsletters in a calendar month (UTC). */
  monthlyEmails: number
  /** Workstations and their rules can be changed. */
  workstations: boolean
}

/** Document 3, Decisions: monthly email quota, Growth plan. */
export const LIMITS: Readonly<Record<Plan, PlanLimits>> = {
  starter: { monthlyEmails: 500, workstations: false },
  growth: { monthlyEmails: 10_000, workstations: true },
  scale: { monthlyEmails: 100_000, workstations: true },
}
