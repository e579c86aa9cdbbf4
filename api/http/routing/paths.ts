/** Which methods each path has, so that a wrong method is told from an unknown path. */
import { Memoirist } from 'memoirist'
import type { Method } from '../route.ts'

type Methods = ReadonlySet<Method>

const isOpen = (part: string) => part.startsWith(':')

export class Paths {
  readonly #tree = new Memoirist<Set<Method>>()
  readonly #shapes = new Map<string, Set<Method>>()

  /** Notes a method of a pattern such as `/team/:id`. */
  add(pattern: string, method: Method) {
    const shape = pattern.replace(/:\w+/g, ':x')
    let methods = this.#shapes.get(shape)
    if (!methods) {
      this.#shapes.set(shape, (methods = new Set()))
      this.#tree.add('ANY', shape, methods)
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
    const covers = (other: string[]) => other.length === parts.length && parts.every((part, i) => part === other[i] || isOpen(part))
    if (![...this.#shapes.keys()].some((other) => other !== shape && covers(other.split('/')))) return null
    const own = this.#shapes.get(shape)
    return (path) => this.methodsOf(path) !== own
  }
}
