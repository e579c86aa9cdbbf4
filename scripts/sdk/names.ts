/** What operations are called in the package: the resource by the first part of the path, the method by what is left of `operationId`. */
import type { Route } from '../../api/http/route.ts'

const wordsOf = (name: string) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[\s-]+/)
const camel = (words: readonly string[]) => words.map((word, i) => (i ? word[0]!.toUpperCase() + word.slice(1) : word)).join('')
const singular = (word: string) => word.replace(/ies$/, 'y').replace(/sses$/, 'ss').replace(/s$/, '')

/** The name of the resource that a path belongs to: `taxRates`. */
export const resourceOf = (path: string) => camel(wordsOf(path.split('/')[1]!))

/** The name of a method: `list` of `listTaxRates`, `addItem` of `addCartItem`, `checkout` of `checkOutCart`; `()` where nothing is left but the resource. */
export function methodOf({ path, options: { operationId } }: Pick<Route, 'path' | 'options'>): string {
  const [first = '', ...below] = path.split('/').slice(1)
  const noun = wordsOf(first)
  const words = wordsOf(operationId.replace('checkOutCart', 'checkoutCart').replace('PhotoFeed', 'Photofeed'))
  const same = (word: string, other: string | undefined) => other !== undefined && singular(word) === singular(other)
  const whole = words.findIndex((_, at) => noun.every((word, i) => same(word, words[at + i])))
  // Of a noun of several words one alone says enough, `listSupportMessages` of support cases, unless it is also what stands below.
  const parts = noun.filter((part) => !below.some((segment) => same(segment, part)))
  const left =
    whole < 0 ? words.filter((word, i) => i === 0 || !parts.some((part) => same(part, word))) : words.toSpliced(whole, noun.length)
  if (/^(to|from)$/.test(left.at(-1) ?? '')) left.pop()
  return left.length ? camel(left) : '()'
}
