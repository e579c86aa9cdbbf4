import { expect, test } from 'vitest'
import { readContent, type Page } from '../../site/lib/content.ts'
import { storeApi } from '../../site/lib/reference.ts'

const { pages } = readContent(new URL('../..', import.meta.url).pathname)
const paths = new Set(Object.keys(storeApi().paths as object))
const NOTICE = '> **Not in this release.**'
const describes = (page: Page) => (page.frontmatter as { describes?: string[] }).describes ?? []

test.each(pages.filter((page) => describes(page).length).map((page) => [page.file, page] as const))(
  '%s says that what it describes is not in this release, as long as that is so',
  (_, page) => {
    const missing = describes(page).filter((path) => !paths.has(path))
    expect([page.body.startsWith(NOTICE), missing]).toEqual([missing.length > 0, missing])
  },
)

test('no other page says so', () => {
  expect(pages.filter((page) => page.body.startsWith(NOTICE) && !describes(page).length).map(({ path }) => path)).toEqual([])
})
