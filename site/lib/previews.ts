/** The pictures that stand for pages where their addresses are shared (Open Graph): one for each area of the site. */
import { AREAS, type Area } from './areas.ts'
import { ABOUT } from './texts.ts'

/** Pixels. */
export const PREVIEW = { width: 1200, height: 630 }

interface Preview {
  title: string
  text: string
}
const areas = Object.fromEntries((Object.keys(AREAS) as Area[]).map((area) => [area, { title: AREAS[area], text: ABOUT[area] }]))
export const PREVIEWS: Record<string, Preview> = {
  home: { title: 'An online-store backend that keeps its word', text: 'Catalog, carts, checkout and orders, as a JSON API.' },
  ...(areas as Record<Area, Preview>),
  pricing: { title: 'Pricing', text: 'What the plans cost and allow.' },
}

/** The picture for the page at `path`: its address, and what is on it. */
export function previewOf(path: string): { src: string; alt: string } {
  const area = path.split('/')[1]!
  const name = area in PREVIEWS ? area : 'home'
  return { src: `/previews/${name}.png`, alt: `Stoa. ${PREVIEWS[name]!.title}` }
}

/** Pictures of the demo shop, in the size of the window that each shows; `-dark` before the suffix is the same in the dark. */
export const PICTURES: Record<string, { width: number; height: number; path: string }> = {
  '/pictures/shop-desk.webp': { width: 1280, height: 800, path: '/' },
  '/pictures/shop-phone.webp': { width: 390, height: 780, path: '/products' },
}
/** The size of a picture of the site. */
export const pictureIn = (path: string): { width: number; height: number } | undefined => PICTURES[path]
/** The same picture in the dark. */
export const darkOf = (path: string) => path.replace('.webp', '-dark.webp')
