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
  const noun = wordsOf(path.split('/')[1]!)
  const words = wordsOf(operationId.replace('checkOutCart', 'checkoutCart'))
  const alike = (at: number) => noun.every((word, i) => words[at + i] !== undefined && singular(words[at + i]!) === singular(word))
  const at = words.findIndex((_, i) => alike(i))
  const left = at < 0 ? words : words.toSpliced(at, noun.length)
  return left.length ? camel(left) : '()'
}
