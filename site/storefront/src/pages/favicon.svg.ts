/** The first letter of the shop in its own colours. */
import type { APIRoute } from 'astro'
import { themeColor } from '../data/looks.ts'
import { shop } from '../data/store.ts'

const letter = ([...shop.name.trim()][0] ?? '·').replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)
export const GET: APIRoute = () =>
  new Response(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="16" fill="${themeColor.accent}"/><text x="16" y="22.5" text-anchor="middle" font-family="Georgia,serif" font-size="19" fill="${themeColor.onAccent}">${letter}</text></svg>`,
  )
