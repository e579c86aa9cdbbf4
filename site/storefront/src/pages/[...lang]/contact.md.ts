/** How to reach the shop, as Markdown. */
import type { APIRoute } from 'astro'
import { markdown, plain, textMarkdown } from '../../data/markdown.ts'
import { onePage, shop } from '../../data/store.ts'
import { wordsIn } from '../../text/text.ts'

export const getStaticPaths = onePage
export const GET: APIRoute = ({ props }) =>
  markdown(
    textMarkdown(
      wordsIn(props.language)('contact'),
      wordsIn(props.language)('contactText'),
      shop.contactEmail && `<${shop.contactEmail}>`,
      Object.values(shop.address)
        .filter(Boolean)
        .map((part) => plain(String(part)))
        .join(', '),
    ),
  )
