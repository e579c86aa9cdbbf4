/** A product as Markdown. */
import type { APIRoute } from 'astro'
import { productPages } from '../../../data/entries.ts'
import { markdown, productMarkdown } from '../../../data/markdown.ts'

export const getStaticPaths = productPages
export const GET: APIRoute = ({ props }) => markdown(productMarkdown(props.item, props.language))
