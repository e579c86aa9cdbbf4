/** The picture that pages upload as `linen-shirt.jpg`, and fetch from `https://cdn.example.com`. */
import { publicFetch, type FetchPublic } from '../../api/outside/fetch-public.ts'
import { picture } from '../content/pictures.ts'

export const PICTURE = new Uint8Array(await picture(1600, 1200).jpeg().toBuffer())

const HOST = 'https://cdn.example.com'
/** What each page's store has already: the sizes of a large one take longer to make than most pages to run. */
export const SMALL = `${HOST}/small.jpg`
const small = new Uint8Array(await picture(32, 24).jpeg().toBuffer())

/** Serves it on loopback, and makes the fetch that takes that server for the host of the pages. */
export async function hostPicture() {
  const pictureOf = ({ url }: Request) => (url.endsWith('/small.jpg') ? small : PICTURE)
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => new Response(pictureOf(request)) })
  const fetchHere = publicFetch({ allow: [server.url.host], lookup: async () => [] })
  const fetchPublic: FetchPublic = (url, limits) => fetchHere(url.replace(HOST, server.url.origin), limits)
  return { fetchPublic, close: () => server.stop(true) }
}
