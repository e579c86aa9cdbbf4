/** A set as Markdown. */
import type { APIRoute } from 'astro'
import { bundlePages } from '../../../data/entries.ts'
import { bundleMarkdown, markdown } from '../../../data/markdown.ts'

export const getStaticPaths = bundlePages
export const GET: APIRoute = ({ props }) => markdown(bundleMarkdown(props.item, props.language))
