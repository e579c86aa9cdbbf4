/** What machines may read: all that is public, and nothing that is a visitor's own. */
import type { APIRoute } from 'astro'
import { shop } from '../data/store.ts'

export const GET: APIRoute = () =>
  new Response(
    `User-agent: *\nContent-Signal: search=yes, ai-input=yes, ai-train=yes\nAllow: /\nDisallow: /_shop/\n${['checkout', 'order', 'wishlist', 'tickets', 'ticket', 'thanks'].flatMap((page) => shop.languages.map(({ path }) => `Disallow: ${path && `/${path}`}/${page}\n`)).join('')}\nSitemap: ${shop.base}/sitemap.xml\n`,
  )
