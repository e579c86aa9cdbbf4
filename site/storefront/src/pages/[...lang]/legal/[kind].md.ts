/** The small print as Markdown. */
import type { APIRoute } from 'astro'
import { markdown, textMarkdown, written } from '../../../data/markdown.ts'
import { storeIn } from '../../../data/store.ts'
import type { LegalKind } from '../../../data/types.ts'
import { legalPages } from '../../../data/entries.ts'
import { wordsIn } from '../../../text/text.ts'

export const getStaticPaths = legalPages
export const GET: APIRoute = ({ props }) => {
  const page = storeIn(props.language).catalog.legal[props.kind as LegalKind]!
  return markdown(textMarkdown(page.title ?? wordsIn(props.language)(props.kind as LegalKind), written(page.content)))
}
