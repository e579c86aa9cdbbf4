/** Addresses in the commands and configurations of pages: written as `npm start` has them, shown as they are where the site is built for. */
import type { Content } from './content.ts'

/** Where the content site and the store API will be, without a slash at the end. */
interface Places {
  base: string
  storeApi: string
}

/** What is pasted as it stands: the package of the release, and the MCP servers. */
const PASTED = [
  ['http://127.0.0.1:4000/sdk/', ({ base }: Places) => `${base}/sdk/`],
  ['http://127.0.0.1:4000/mcp', ({ base }: Places) => `${base}/mcp`],
  ['http://127.0.0.1:3000/mcp', ({ storeApi }: Places) => `${storeApi}/mcp`],
] as const

/** The same content with these addresses as they are at its places. */
export function pastedAt(content: Content, places: Places): Content {
  for (const page of content.pages) for (const [usual, at] of PASTED) page.body = page.body.replaceAll(usual, at(places))
  return content
}
