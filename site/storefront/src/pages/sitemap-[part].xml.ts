/** The parts of a sitemap that is too large for one. */
import type { APIRoute } from 'astro'
import { sitemaps } from '../data/sitemap.ts'

export const getStaticPaths = () => {
  const all = sitemaps()
  return all.length === 1 ? [] : all.map((text, at) => ({ params: { part: String(at + 1) }, props: { text } }))
}
export const GET: APIRoute = ({ props }) => new Response(props.text as string)
