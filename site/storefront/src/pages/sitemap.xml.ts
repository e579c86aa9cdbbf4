/** All pages, in all languages. */
import type { APIRoute } from 'astro'
import { sitemap } from '../data/sitemap.ts'

export const GET: APIRoute = () => new Response(sitemap())
