/** The home pages as Markdown: `/index.md`, `/de.md`. */
import type { APIRoute } from 'astro'
import { homeMarkdown, markdown } from '../data/markdown.ts'
import { onePage } from '../data/store.ts'

export const getStaticPaths = () => onePage().map(({ props }) => ({ params: { home: props.language.path || 'index' }, props }))
export const GET: APIRoute = ({ props }) => markdown(homeMarkdown(props.language))
