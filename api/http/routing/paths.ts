/** Which methods each path has, so that a wrong method is told from an unknown path. */
import { Memoirist } from 'memoirist'
import type { Method } from '../route.ts'

type Methods = ReadonlySet<Method>

const isOpen = (part: string) => part.startsWith(':')

export class Paths {
  readonly #tree = new Memoirist<Set<Method>>()
  readonly #shapes = new Map<string, Set<Method>>()
  /** The parts of each shape, by how many there are: comparing every shape with every other one took 16 ms of the start, and 11 MB. */
  readonly #parts = new Map<number, string[][]>()

  /** Notes a method of a pattern such as `/team/:id`. */
  add(pattern: string, method: Method) {
    const shape = pattern.replace(/:\w+/g, ':x')
    let methods = this.#shapes.get(shape)
    if (!methods) {
      this.#shapes.set(shape, (methods = new Set()))
      this.#tree.add('ANY', shape, methods)
      const parts = shape.split('/')
      this.#parts.set(parts.length, [...(this.#parts.get(parts.length) ?? []), parts])
    }
    methods.add(method)
  }

  /** The methods of the pattern that a path belongs to; the more fixed parts a pattern has, the sooner it is chosen. */
  methodsOf(path: string): Methods | undefined {
    return this.#tree.find('ANY', path)?.store
  }

  /**
   * Finds paths that a pattern would take although they are another's: `DELETE /team/invitations` is no member of the team. Null
   * for a pattern under which there are none.
   */
  strangers(pattern: string): ((path: string) => boolean) | null {
    const shape = pattern.replace(/:\w+/g, ':x')
    const parts = shape.split('/')
    if (!parts.some(isOpen)) return null
    const covers = (other: string[]) => parts.every((part, i) => part === other[i] || isOpen(part))
    const isSame = (other: string[]) => parts.every((part, i) => part === other[i])
    if (!this.#parts.get(parts.length)!.some((other) => covers(other) && !isSame(other))) return null
    const own = this.#shapes.get(shape)
    return (path) => this.methodsOf(path) !== own
  }
}
