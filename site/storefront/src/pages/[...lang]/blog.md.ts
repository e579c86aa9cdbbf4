/** All posts as Markdown. */
import type { APIRoute } from 'astro'
import { link, markdown, plain, textMarkdown } from '../../data/markdown.ts'
import { onePage, shop, storeIn } from '../../data/store.ts'
import type { Post } from '../../data/types.ts'
import { wordsIn } from '../../text/text.ts'

export const getStaticPaths = () => (shop.tools.blog ? onePage() : [])
export const GET: APIRoute = ({ props }) =>
  markdown(
    textMarkdown(
      wordsIn(props.language)('blog'),
      storeIn(props.language)
        .catalog.posts.slice(0, 500)
        .map((post: Post) => `- ${link(props.language, post.title, `/blog/${post.slug}`)}${post.excerpt ? `: ${plain(post.excerpt)}` : ''}`)
        .join('\n') || wordsIn(props.language)('nothing'),
    ),
  )
