/** The fonts of the shop, under names that change with what is in them. */
import type { APIRoute } from 'astro'
import { fontBytes, fontFiles } from '../../data/looks.ts'

export const getStaticPaths = () => fontFiles.map(({ file }) => ({ params: { file } }))
export const GET: APIRoute = ({ params: { file } }) => new Response(fontBytes(file!))
