/** The limits of each plan: the numbers that the store API enforces, and that the pricing page shows. */
export const PLANS = ['starter', 'growth', 'scale'] as const
export type Plan = (typeof PLANS)[number]

export interface PlanLimits {
  /** Recipients of newsletters in a calendar month (UTC). */
  monthlyEmails: number
  /** Media, databases, built storefronts and the project together, in MB (1,048,576 bytes). */
  diskMb: number
  /** Publishes and previews in 24 hours. */
  buildsPerDay: number
  /** Workstations and their rules can be changed. */
  workstations: boolean
}

/** The limits of a plan that are yes or no. */
export type Allowed = { [K in keyof PlanLimits]: PlanLimits[K] extends boolean ? K : never }[keyof PlanLimits]

/** Document 3, Decisions: monthly email quota, Growth plan. */
export const LIMITS: Readonly<Record<Plan, PlanLimits>> = {
  starter: { monthlyEmails: 500, diskMb: 10_000, buildsPerDay: 50, workstations: false },
  growth: { monthlyEmails: 10_000, diskMb: 50_000, buildsPerDay: 200, workstations: true },
  scale: { monthlyEmails: 100_000, diskMb: 250_000, buildsPerDay: 1_000, workstations: true },
}

/** The cheapest plan that has it. */
export const cheapestWith = (what: Allowed): Plan => PLANS.find((plan) => LIMITS[plan][what])!
