/** All events as Markdown. */
import type { APIRoute } from 'astro'
import { line, markdown, textMarkdown } from '../../data/markdown.ts'
import { onePage, shop, storeIn } from '../../data/store.ts'
import { wordsIn } from '../../text/text.ts'

export const getStaticPaths = () => (shop.tools.events ? onePage() : [])
export const GET: APIRoute = ({ props }) =>
  markdown(
    textMarkdown(
      wordsIn(props.language)('events'),
      storeIn(props.language)
        .events.map((product) => `${line(product, props.language)} ${product.event?.startsAt ?? ''}`)
        .join('\n') || wordsIn(props.language)('nothing'),
    ),
  )
