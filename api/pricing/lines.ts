/**
 * The lines of a cart as discounts see them: what is still to be paid of each, and which of them a discount covers. What the lines are in
 * is looked up by id, once for a cart, so that a discount costs its own ids and the lines that it covers, not one times the other.
 */
import { millionths, share, split } from '../values/money.ts'

/** The coverage of a discount: nothing named means everything; an id that is gone covers nothing. */
export interface Coverage {
  productIds: readonly string[]
  collectionIds: readonly string[]
  categoryIds: readonly string[]
  brandIds: readonly string[]
}

/** One variant in a cart; those of a bundle share its `bundle`. */
export interface PriceLine {
  /** The cart item that it belongs to. */
  itemId: string
  productId: string
  collectionIds: readonly string[]
  /** Its category and all above it. */
  categoryIds: readonly string[]
  brandId: string | null
  quantity: number
  unitPrice: number
  /** Percent times 10,000. */
  taxRate: number
  bundle: { id: string; discountPercentage: number } | null
}

const IDS: Record<keyof Coverage, (line: PriceLine) => readonly string[]> = {
  productIds: ({ productId }) => [productId],
  collectionIds: ({ collectionIds }) => collectionIds,
  categoryIds: ({ categoryIds }) => categoryIds,
  brandIds: ({ brandId }) => (brandId === null ? [] : [brandId]),
}
const FIELDS = Object.keys(IDS) as (keyof Coverage)[]

/** Positions of lines by the id of something that they are in. */
type Positions = Map<string, number[]>

function positions(lines: readonly PriceLine[], idsOf: (line: PriceLine) => readonly string[]): Positions {
  const found: Positions = new Map()
  lines.forEach((line, i) => {
    for (const id of idsOf(line)) {
      const at = found.get(id)
      if (at) at.push(i)
      else found.set(id, [i])
    }
  })
  return found
}

/** The lines of a cart, and what is still to be paid of each. */
export class Lines {
  readonly left: number[]
  /** Units of all lines together. */
  readonly units: number
  /** Positions of all lines. */
  readonly all: readonly number[]
  /** Where each id of a field is in the lines; made when the first discount asks. */
  readonly #in = new Map<keyof Coverage, Positions>()
  #products: readonly number[] | null = null
  #dearestFirst: readonly number[] | null = null

  constructor(readonly lines: readonly PriceLine[]) {
    this.left = lines.map((line) => line.quantity * line.unitPrice)
    this.units = lines.reduce((sum, line) => sum + line.quantity, 0)
    this.all = lines.map((_, i) => i)
  }

  /** The product of each line: the position of the first one that has it. */
  get products(): readonly number[] {
    const at = this.#positions('productIds')
    return (this.#products ??= this.lines.map(({ productId }) => at.get(productId)![0]!))
  }

  #positions(field: keyof Coverage): Positions {
    let at = this.#in.get(field)
    if (!at) this.#in.set(field, (at = positions(this.lines, IDS[field])))
    return at
  }

  /** The positions of the lines that a discount covers, in their order. */
  covered(coverage: Coverage): readonly number[] {
    const fields = FIELDS.filter((field) => coverage[field].length)
    if (!fields.length) return this.all
    const marks = new Uint8Array(this.lines.length)
    for (const field of fields) {
      const at = this.#positions(field)
      for (const id of coverage[field]) {
        const found = at.get(id)
        if (found !== undefined) for (let k = 0; k < found.length; k++) marks[found[k]!] = 1
      }
    }
    return this.all.filter((i) => marks[i])
  }

  /** Some lines by their unit price, the dearest first. */
  dearestFirst(indexes: readonly number[]): readonly number[] {
    this.#dearestFirst ??= this.all.toSorted((a, b) => this.lines[b]!.unitPrice - this.lines[a]!.unitPrice || a - b)
    if (indexes.length === this.lines.length) return this.#dearestFirst
    const marks = new Uint8Array(this.lines.length)
    for (const i of indexes) marks[i] = 1
    return this.#dearestFirst.filter((i) => marks[i])
  }

  /** Takes a percentage off each of these lines, rounded per line; returns how much in all. */
  percentage(indexes: readonly number[], percent: number): number {
    const part = millionths(percent)
    let off = 0
    for (const i of indexes) off += this.take(i, share(this.left[i]!, part, 1_000_000))
    return off
  }

  /** Takes an amount off these lines together, in proportion to what is left of each. */
  amount(indexes: readonly number[], amount: number): number {
    const weights = indexes.map((i) => this.left[i]!)
    let most = 0
    for (const weight of weights) most += weight
    const off = Math.min(amount, most)
    if (off === 0) return 0
    const parts = split(off, weights)
    for (let k = 0; k < parts.length; k++) this.take(indexes[k]!, parts[k]!)
    return off
  }

  take(i: number, amount: number): number {
    const off = Math.min(amount, this.left[i]!)
    this.left[i]! -= off
    return off
  }
}
