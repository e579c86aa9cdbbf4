/** A list of products as Markdown. */
import type { APIRoute } from 'astro'
import { groupPages, productsIn } from '../../../data/entries.ts'
import { groupMarkdown, markdown } from '../../../data/markdown.ts'
import { storeIn } from '../../../data/store.ts'

export const getStaticPaths = () => groupPages('brands')
export const GET: APIRoute = ({ props: { item, language } }) =>
  markdown(groupMarkdown(item, productsIn('brands', storeIn(language), item), language))
