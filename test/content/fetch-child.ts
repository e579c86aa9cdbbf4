/** Reads a URL whose name is only known here, and prints what came of it. A process of its own trusts certificates of its own. */
import { publicFetch } from '../../api/outside/fetch-public.ts'

const url = process.argv[2]!
const fetchPublic = publicFetch({ allow: [new URL(url).host], lookup: async () => ['127.0.0.1'] })
const answer = await fetchPublic(url, { maxBytes: 100, maxMs: 5_000, accept: '*/*' }).catch((error) => error)
console.log(answer instanceof Error ? answer.message : new TextDecoder().decode(answer.bytes))
