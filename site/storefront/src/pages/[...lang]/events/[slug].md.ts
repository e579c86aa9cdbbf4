/** An event as Markdown. */
import type { APIRoute } from 'astro'
import { eventPages } from '../../../data/entries.ts'
import { markdown, productMarkdown } from '../../../data/markdown.ts'

export const getStaticPaths = eventPages
export const GET: APIRoute = ({ props }) => markdown(productMarkdown(props.item, props.language))
