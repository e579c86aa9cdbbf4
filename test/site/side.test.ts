import { expect, test } from 'vitest'
import { indexed, type Page } from '../../site/lib/content.ts'
import { sideOf } from '../../site/lib/side.ts'

/** How-to pages in so many sections of two. */
function contentWith(sections: number) {
  const names = Array.from({ length: sections }, (_, i) => `section-${i}`)
  const pages = names.flatMap((section) =>
    ['one', 'two'].map((slug): Page => {
      const path = `/help/${section}/${slug}`
      const frontmatter = { title: slug, summary: slug, updated: '2026-01-02' }
      const text = { title: `${slug} & all`, summary: slug, date: '2026-01-02', body: 'Text.', headings: [], fences: [] }
      return { kind: 'help', section, tag: null, slug, path, file: `content${path}.md`, frontmatter, ...text }
    }),
  )
  const help = names.map((section) => ({ section, title: `The ${section}`, pages: [`${section}/one`, `${section}/two`] }))
  return indexed({
    project: { repository: '', licence: '', contact: '' },
    figures: [],
    peers: null,
    home: null,
    navigation: { docs: [], help },
    pages,
  })
}
const sideAt = (sections: number, at: number) => {
  const content = contentWith(sections)
  return sideOf(content, content.byPath.get(`/help/section-${at}/two`)!)
}
const sectionsIn = (side: string) => [...side.matchAll(/<p>(?:<a href="\/help#[\w-]+">)?The section-(\d+)/g)].map(([, n]) => Number(n))

test('beside a page stand all sections of its area, and the pages of its own with the page marked', () => {
  const side = sideAt(3, 1)
  expect(sectionsIn(side)).toEqual([0, 1, 2])
  expect(side).toContain('<p>The section-1</p><ul><li><a href="/help/section-1/one">one &amp; all</a></li>')
  expect(side.match(/aria-current/g)).toHaveLength(1)
  expect(side).toContain('<a href="/help/section-1/two" aria-current="page">')
  expect(side).not.toContain('sections</a>')
})

test.each([
  ['the first', 0, [0, 23]],
  ['one in the middle', 30, [18, 41]],
  ['the last', 59, [36, 59]],
])('of very many sections those nearest to %s are shown, with a link to all', (_, at, [first, last]) => {
  const side = sideAt(60, at)
  const shown = sectionsIn(side)
  expect([shown[0], shown.at(-1), shown.length]).toEqual([first, last, 24])
  expect(side).toMatch(/^<p><a href="\/help">How-to: all 60 sections<\/a><\/p>/)
})
