/** A post as Markdown. */
import type { APIRoute } from 'astro'
import { postPages } from '../../../data/entries.ts'
import { markdown, postMarkdown } from '../../../data/markdown.ts'

export const getStaticPaths = postPages
export const GET: APIRoute = ({ props }) => markdown(postMarkdown(props.item, props.language))
