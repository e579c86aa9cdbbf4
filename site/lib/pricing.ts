/** Plans and prices: what `content/pricing.json` says, with the limits that the store API enforces. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type, type Static } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { LIMITS, PLANS, type Plan, type PlanLimits } from '../../api/values/plans.ts'

const strict = { additionalProperties: false }
const Id = Type.Union(PLANS.map((plan) => Type.Literal(plan)))
const Amount = Type.Number({ minimum: 0 })
const Source = Type.Object(
  {
    currency: Type.String({ pattern: '^[a-z]{3}$' }),
    updatedAt: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$' }),
    plans: Type.Array(
      Type.Object(
        {
          id: Id,
          name: Type.String(),
          tagline: Type.String(),
          priceMonthly: Amount,
          priceYearly: Amount,
          features: Type.Array(Type.String()),
        },
        strict,
      ),
      { minItems: PLANS.length, maxItems: PLANS.length },
    ),
    features: Type.Array(Type.Object({ name: Type.String(), plans: Type.Array(Id) }, strict)),
  },
  strict,
)

type Source = Static<typeof Source>
export interface Pricing extends Omit<Source, 'plans'> {
  plans: (Source['plans'][number] & { limits: PlanLimits })[]
}

/** Reads the prices; throws with the first thing that is wrong with the file. */
export function readPricing(root: string): Pricing {
  const source: unknown = JSON.parse(readFileSync(join(root, 'content/pricing.json'), 'utf8'))
  const [problem] = Value.Errors(Source, source)
  if (problem) throw new Error(`content/pricing.json: ${problem.path}: ${problem.message}`)
  const { plans, ...rest } = source as Source
  return { ...rest, plans: plans.map((plan) => ({ ...plan, limits: LIMITS[plan.id as Plan] })) }
}

/** Whether an operator has put prices into `pricing.json`; without any, Stoa is what it is for whoever runs it: free. */
export const hasPrices = ({ plans }: Pricing) => plans.some(({ priceMonthly, priceYearly }) => priceMonthly > 0 || priceYearly > 0)

/** What the prices are, or why there are none. */
export const introduction = (pricing: Pricing) =>
  hasPrices(pricing)
    ? `Prices in ${pricing.currency.toUpperCase()}, as of ${pricing.updatedAt}. The limits are the store API’s own.`
    : 'Stoa charges nothing: you bring the machine, [two cores and 2 GB of memory](/docs/getting-started/deployment) to begin with, 4 GB with published shops. [Licence and source](/help/getting-started/licence-and-security) say what you may do with it. A plan is a quota that whoever runs the installation gives a store, so that one installation can hold shops of several sizes; these are the limits that the store API holds them to.'

const money = (amount: number, currency: string) =>
  amount === 0 ? 'free' : new Intl.NumberFormat('en-US', { style: 'currency', currency, minimumFractionDigits: 0 }).format(amount)

/** Who decides about a store's plan. */
export const CHANGING =
  'A plan belongs to a store, and is set by whoever runs the installation, with `npm run -s stoa -- store update ID --plan growth`. It counts from the next request on; a smaller plan takes nothing away that is there, it only refuses what it does not allow.'

/** Prices, limits and features as Markdown, without a heading of the first level. */
export function pricingMarkdown(pricing: Pricing): string {
  const { currency, plans, features } = pricing
  const isPriced = hasPrices(pricing)
  const cells = (values: readonly string[]) => `| ${values.join(' | ')} |`
  const line = (name: string, value: (plan: Pricing['plans'][number]) => string) => cells([name, ...plans.map(value)])
  return [
    introduction(pricing),
    ...plans.map((plan) =>
      [
        `## ${plan.name}`,
        `${plan.tagline}${isPriced ? ` ${plan.priceMonthly ? `${money(plan.priceMonthly, currency)} a month, or ${money(plan.priceYearly, currency)} a year.` : 'Free.'}` : ''}`,
        plan.features.map((feature) => `- ${feature}`).join('\n'),
      ].join('\n\n'),
    ),
    '## Changing the plan',
    CHANGING,
    '## Compare',
    [
      cells(['What', ...plans.map(({ name }) => name)]),
      cells(['---', ...plans.map(() => '---')]),
      ...(isPriced
        ? [line('A month', (plan) => money(plan.priceMonthly, currency)), line('A year', (plan) => money(plan.priceYearly, currency))]
        : []),
      line('Newsletter recipients a month', (plan) => plan.limits.monthlyEmails.toLocaleString('en-US')),
      line('Disk', (plan) => `${(plan.limits.diskMb / 1_000).toLocaleString('en-US')} GB`),
      line('Publishes and previews a day', (plan) => plan.limits.buildsPerDay.toLocaleString('en-US')),
      ...features.map(({ name, plans: having }) => line(name, ({ id }) => (having.includes(id) ? 'yes' : 'no'))),
    ].join('\n'),
  ].join('\n\n')
}
