/** The search index: Pagefind's, of the texts of the pages, without the search forms that it brings. */
import { createIndex, close } from 'pagefind'
import type { Page } from '../../site/lib/content.ts'
import { escaped, plainHtmlOf } from '../../site/lib/html.ts'

/** What Pagefind brings that is used: the index, and what reads it. */
const USED = /^(pagefind\.js|pagefind-(entry\.json|worker\.js)|fragment\/.*|index\/.*|wasm\..*|.*\.pf_meta)$/
/** Pages that are on their way to Pagefind. */
const BATCH = 200

/** The files of the index, by their names below `/pagefind/`. */
export async function searchIndex(pages: readonly Page[]): Promise<{ path: string; content: Uint8Array<ArrayBuffer> }[]> {
  try {
    const { index, errors } = await createIndex({})
    if (!index) throw new Error(`the search index can't be made: ${errors.join(', ')}`)
    for (let from = 0; from < pages.length; from += BATCH) {
      const added = await Promise.all(
        pages.slice(from, from + BATCH).map((page) =>
          index.addHTMLFile({
            url: page.path,
            content: `<html lang="en"><body><h1>${escaped(page.title)}</h1>${plainHtmlOf(page)}</body></html>`,
          }),
        ),
      )
      const wrong = added.flatMap(({ errors }) => errors)
      if (wrong.length) throw new Error(`the search index can't be made: ${wrong.join(', ')}`)
    }
    // Written by this process: Pagefind's own writing has returned before its files were whole.
    const { files } = await index.getFiles()
    return files.filter(({ path }) => USED.test(path)).map(({ path, content }) => ({ path, content: new Uint8Array(content) }))
  } finally {
    await close()
  }
}
