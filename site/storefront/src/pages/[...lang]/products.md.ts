/** All products as Markdown. */
import type { APIRoute } from 'astro'
import { groupMarkdown, markdown } from '../../data/markdown.ts'
import { onePage, storeIn } from '../../data/store.ts'
import { wordsIn } from '../../text/text.ts'

export const getStaticPaths = onePage
export const GET: APIRoute = ({ props }) =>
  markdown(groupMarkdown({ id: '', slug: 'products', name: wordsIn(props.language)('all') }, storeIn(props.language).goods, props.language))
