/** Astro's view of the content: the pages of the one index, rendered by Astro's own Markdown engine. */
import { join } from 'node:path'
import { defineCollection } from 'astro:content'
import { readContent, type Page } from './lib/content.ts'
import { decorated } from './lib/decorate.ts'
import { bodyOf } from './lib/texts.ts'

const pages = defineCollection({
  loader: {
    name: 'content',
    async load({ store, renderMarkdown, generateDigest, watcher }) {
      const fill = async () => {
        const { pages: found } = readContent(process.cwd())
        store.clear()
        for (const page of found) {
          const body = bodyOf(page)
          const rendered = await renderMarkdown(body)
          const data = page as Page & Record<string, unknown>
          store.set({
            id: page.path.slice(1),
            data,
            body,
            rendered: { ...rendered, html: decorated(rendered.html) },
            digest: generateDigest(body),
          })
        }
      }
      await fill()
      watcher?.add(join(process.cwd(), 'content'))
      watcher?.on('change', (path) => {
        if (path.includes('/content/')) fill().catch((error) => console.error(error.message))
      })
    },
  },
})

export const collections = { pages }
