/** Tells whoever runs jobs that there may be one: from the requests that enqueue them to the runner of this process. */
import type { Environment } from '../../db/open.ts'

type Listener = (storeId: string, environment: Environment) => void

export class Wake {
  #listener: Listener | null = null

  /** Has a runner told from now on; until then nobody is, and jobs wait for its first look round. */
  listen(listener: Listener) {
    this.#listener = listener
  }

  /** Says that a database of a store may have a job that is due, once it is committed. */
  tell({ storeId, environment }: { storeId: string; environment: Environment }) {
    this.#listener?.(storeId, environment)
  }
}
