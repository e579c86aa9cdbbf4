/** What is said of a path that leads nowhere: the nearest pages, to programs as a problem, to people as links. */
import { isDocumentShaped } from './addresses.ts'
import type { Manifest } from './manifest.ts'
import { Nearest } from './nearest.ts'
import type { Problem } from './problem.ts'

/** What is shown of a path. */
const SHOWN_MAX = 200

export class Missing {
  readonly #nearest: Nearest

  constructor(
    readonly pages: Manifest['pages'],
    readonly base: string,
  ) {
    this.#nearest = new Nearest(Object.keys(pages))
  }

  problem(path: string): Problem {
    const near = this.#near(path).map((page) => this.base + page)
    const isDocument = isDocumentShaped(path)
    const where = isDocument
      ? `All pages are listed in ${this.base}/llms.txt.`
      : `What there is stands in ${this.base}/openapi.json and ${this.base}/.well-known/api-catalog.`
    const shown = path.slice(0, SHOWN_MAX)
    return {
      status: 404,
      code: isDocument ? 'document_not_found' : 'api_route_not_found',
      detail: isDocument ? `No document has the address ${shown}.` : `Nothing is at ${shown}.`,
      resolution: near.length ? `Perhaps you are looking for ${near.join(' or ')}. ${where}` : where,
    }
  }

  /** HTML; nothing where nothing is near. */
  suggestions(path: string): string {
    const list = this.#near(path)
      .map((page) => `<li><a href="${this.base}${page}">${this.pages[page]!.title.replaceAll('<', '&lt;')}</a></li>`)
      .join('')
    return list ? `<p>Perhaps you are looking for one of these:</p><ul>${list}</ul>` : ''
  }

  #near(path: string): string[] {
    return this.#nearest.to(path.replace(/\.md$/, ''))
  }
}
