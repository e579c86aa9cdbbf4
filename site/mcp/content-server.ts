/** `/mcp` of the content site (document 8, MCP): its pages, its search and its analyses for agents, without a key. */
import { STRANGER_MAX_BYTES } from '../../api/http/input/body.ts'
import { STRANGERS } from '../../api/http/input/bytes.ts'
import { answerMessages, readMessages, refuseUnfit, type Identity } from '../../api/mcp/endpoint.ts'
import { Refusal } from '../../api/values/refusal.ts'
import { ContentTools, type AskSite } from './content-tools.ts'

const INSTRUCTIONS = `The documentation of Stoa, an online-store backend, and what it can tell of public shops.
Begin with search_docs; its hits name a page and a section, which read_page reads. Everything can only be read, and needs no key.
The store API has an MCP server of its own, at /mcp of the host of the store: it needs that store's API key.`

export interface ContentServerNeeds {
  /** Public, without a slash at the end. */
  base: string
  version: string
  /** Asks the site on behalf of whoever sent a request. */
  askFor(request: Request): AskSite
  broken(error: unknown): void
}

export class ContentServer {
  readonly #identity: Identity

  constructor(readonly needs: ContentServerNeeds) {
    const { base, version } = needs
    this.#identity = {
      name: 'stoa-docs',
      title: 'Stoa documentation',
      version,
      websiteUrl: `${base}/docs/api-reference/mcp-server`,
      instructions: INSTRUCTIONS,
    }
  }

  async answer(request: Request): Promise<Response> {
    const { base, askFor, broken } = this.needs
    const unfit = refuseUnfit(request, [new URL(base).origin])
    if (unfit) return unfit
    try {
      const read = await readMessages(request, { share: STRANGERS, maxBytes: STRANGER_MAX_BYTES })
      if (read instanceof Response) return read
      return await answerMessages(request, read.body, this.#identity, new ContentTools(askFor(request), base, broken))
    } catch (error) {
      if (error instanceof Refusal) return Response.json(error.body, { status: error.status, headers: error.headers })
      broken(error)
      return Response.json({ error: 'internal error' }, { status: 500 })
    }
  }
}
