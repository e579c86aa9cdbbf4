/** Operations as the package carries them: a line each, which says how a call becomes a request. */

/**
 * `GET /products q l100`: the method, the path, and marks. `b` takes a body, `q` a query; a list goes on by its offset (`l` and the largest
 * page), by a cursor (`c` and the largest page), or is whole (`w`); `p` asks for no key, `f` is answered with
 * a file or a text.
 */
type Line = string

/** The operations of a resource by the names of their methods; `()` is the resource itself, called. */
type Lines = Readonly<Record<string, Line>>

/** A resource that a client can be given; `Api` is what it looks like there. */
export interface Resource<Api> {
  readonly lines: Lines
  /** Never there: it carries the type. */
  readonly api?: Api
}

/** A resource of these operations. */
export const resource = <Api>(lines: Lines): Resource<Api> => ({ lines })

export interface Operation {
  method: string
  path: string
  /** The names in the braces of the path, in their order. */
  params: readonly string[]
  hasBody: boolean
  hasQuery: boolean
  isPublic: boolean
  isFile: boolean
  list: 'offset' | 'cursor' | 'whole' | null
  /** The most entries that a page may have. */
  pageMax: number
}

const LISTS = { l: 'offset', c: 'cursor', w: 'whole' } as const

/** Reads a line. */
export function operationOf(line: Line): Operation {
  const [method = '', path = '', ...marks] = line.split(' ')
  const list = marks.find((mark) => /^[lcw]\d*$/.test(mark))
  return {
    method,
    path,
    params: (path.match(/\{\w+\}/g) ?? []).map((name) => name.slice(1, -1)),
    hasBody: marks.includes('b'),
    hasQuery: marks.includes('q'),
    isPublic: marks.includes('p'),
    isFile: marks.includes('f'),
    list: list ? LISTS[list[0] as 'l'] : null,
    pageMax: Number(list?.slice(1)),
  }
}
