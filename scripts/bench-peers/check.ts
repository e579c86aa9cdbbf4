/** Holds every side to what it is measured for: a figure of answers without the products would be worth nothing. */
import { PRODUCTS } from './catalog.ts'
import { requireGoing } from './processes.ts'
import { REQUESTS, wrongWith, type Variant } from './variants.ts'

const AT_ONCE = 4
const ANSWER_MAX_MS = 15_000
const SHOWN = 400

/** The text of the answer to the nth request. Throws for whatever is not a success. */
export async function textOf({ system, variant, port, ask }: Variant, n: number): Promise<string> {
  const { method, path, headers, body } = ask(n)
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { ...headers, 'accept-encoding': 'identity', ...(body ? { 'content-type': 'application/json' } : {}) },
    body: body ? JSON.stringify(body) : undefined,
    signal: AbortSignal.timeout(ANSWER_MAX_MS),
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${system}, ${variant}: ${method} ${path}: ${response.status} ${text.slice(0, SHOWN)}`)
  return text
}

/** Throws unless the nth answer has exactly what it is asked for; the slugs that it has. */
export async function requireAnswer(variant: Variant, n: number): Promise<(string | null)[]> {
  const text = await textOf(variant, n)
  // The floor gives one answer to all.
  const asked = variant.system === 'floor' ? 0 : n
  const wrong = (what: string) =>
    new Error(`${variant.system}, ${variant.call}, ${variant.variant}: answer ${n + 1} is wrong: ${what}: ${text.slice(0, SHOWN)}`)
  let items
  try {
    items = variant.found(JSON.parse(text))
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error))
  }
  const problem = wrongWith(variant.call, asked, items)
  if (problem) throw wrong(problem)
  return items.map(({ slug }) => slug)
}

/** Asks a variant for all that it is going to be asked for; throws unless each answer is right, and the pages of a list have all products. */
export async function requireAnswers(variant: Variant) {
  const count = REQUESTS[variant.call]
  const slugs = new Set<string | null>()
  let next = 0
  const lane = async () => {
    while (next < count) {
      requireGoing()
      for (const slug of await requireAnswer(variant, next++)) slugs.add(slug)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  if (variant.call === 'list' && variant.system !== 'floor' && slugs.size !== PRODUCTS)
    throw new Error(`${variant.system}, ${variant.variant}: ${count} pages have ${slugs.size} products instead of ${PRODUCTS}`)
}
