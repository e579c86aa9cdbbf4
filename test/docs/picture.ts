/** The picture that pages upload as `linen-shirt.jpg`, and fetch from `https://cdn.example.com`. */
import { publicFetch, type FetchPublic } from '../../api/outside/fetch-public.ts'
import { picture } from '../content/pictures.ts'

export const PICTURE = new Uint8Array(await picture(1600, 1200).jpeg().toBuffer())

const HOST = 'https://cdn.example.com'

/** Serves it on loopback, and makes the fetch that takes that server for the host of the pages. */
export async function hostPicture() {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(PICTURE) })
  const fetchHere = publicFetch({ allow: [server.url.host], lookup: async () => [] })
  const fetchPublic: FetchPublic = (url, limits) => fetchHere(url.replace(HOST, server.url.origin), limits)
  return { fetchPublic, close: () => server.stop(true) }
}
