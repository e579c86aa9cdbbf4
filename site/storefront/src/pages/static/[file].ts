/** The style of the shop and its fonts, under names that change with what is in them. */
import type { APIRoute } from 'astro'
import { css, cssFile, fontBytes, fontFiles } from '../../data/looks.ts'

export const getStaticPaths = () => [cssFile, ...fontFiles.map(({ file }) => file)].map((file) => ({ params: { file } }))
export const GET: APIRoute = ({ params: { file } }) => (file === cssFile ? new Response(css) : new Response(fontBytes(file!)))
