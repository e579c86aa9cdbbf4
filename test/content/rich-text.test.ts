/** Rich text as HTML and as Markdown: all that editors make, and nothing that a browser would run, whatever was stored. */
import { micromark } from 'micromark'
import { gfm, gfmHtml } from 'micromark-extension-gfm'
import { describe, expect, test } from 'vitest'
import { richTextHtml, richTextMarkdown } from '../../api/values/rich-text/render.ts'
import { HOSTILE } from './hostile-text.ts'

const ELEMENTS =
  'p h1 h2 h3 h4 h5 h6 blockquote ul ol li pre code hr br img table thead tbody tr td th strong em s u sub sup a del input'.split(' ')
/** What an attribute of an element may say. */
const ATTRIBUTES: Record<string, RegExp> = {
  href: /^(https?:|mailto:|tel:|[^:]*([/?#]|$))/i,
  src: /^(https?:|[^:]*([/?#]|$))/i,
  rel: /^noopener noreferrer$/,
  loading: /^lazy$/,
  class: /^language-[\w+#-]{1,30}$/,
  alt: /^/,
  title: /^/,
  start: /^\d+$/,
  colspan: /^\d+$/,
  rowspan: /^\d+$/,
  width: /^\d+$/,
  height: /^\d+$/,
  align: /^/,
  type: /^checkbox$/,
  disabled: /^$/,
  checked: /^$/,
}

/** What a browser would make of an address: the names of characters are read, and some characters dropped, before its scheme. */
const meant = (url: string) =>
  url
    .replace(/&(#x?[0-9a-f]+|\w+);?/gi, (whole, name: string) => {
      const number = /^#x/i.test(name) ? parseInt(name.slice(2), 16) : name.startsWith('#') ? parseInt(name.slice(1), 10) : NaN
      const named: Record<string, string> = { amp: '&', colon: ':', Tab: '\t', NewLine: '\n', quot: '"', lt: '<', gt: '>' }
      return Number.isNaN(number) ? (named[name] ?? whole) : String.fromCodePoint(number)
    })
    .replace(/[\u0000-\u0020]/g, '')

/** What is in HTML that should not be. */
async function dangersIn(html: string): Promise<string[]> {
  const found: string[] = []
  await new HTMLRewriter()
    .on('*', {
      element(element) {
        if (!ELEMENTS.includes(element.tagName)) found.push(`<${element.tagName}>`)
        for (const [name, value] of element.attributes)
          if (!Object.hasOwn(ATTRIBUTES, name) || !ATTRIBUTES[name]!.test(/^(href|src)$/.test(name) ? meant(value!) : value!))
            found.push(`${element.tagName} ${name}=${value}`)
      },
    })
    .onDocument({ comments: () => void found.push('a comment'), doctype: () => void found.push('a doctype') })
    .transform(new Response(html))
    .text()
  return found
}
/** As the most careless reader of Markdown would show it: HTML in it is HTML, and any address is a link. */
const careless = (markdown: string) =>
  micromark(markdown, {
    allowDangerousHtml: true,
    allowDangerousProtocol: true,
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
  })

test('the list is as long as it should be', () => expect(HOSTILE.length).toBeGreaterThanOrEqual(120))

test.each(HOSTILE)('%s stays text', async (_, document) => {
  expect(await dangersIn(richTextHtml(document))).toEqual([])
  expect(await dangersIn(careless(richTextMarkdown(document)))).toEqual([])
})

const text = (words: string, ...marks: (string | object)[]) => ({
  type: 'text',
  text: words,
  marks: marks.map((mark) => (typeof mark === 'string' ? { type: mark } : mark)),
})
const node = (type: string, ...content: object[]) => ({ type, content })
const paragraph = (...content: object[]) => node('paragraph', ...content)
const link = (href: string) => ({ type: 'link', attrs: { href } })

describe('what an editor makes', () => {
  test.each<[string, object, string, string]>([
    ['words', paragraph(text('One & two')), '<p>One &amp; two</p>', 'One \\& two'],
    [
      'marks',
      paragraph(text('a', 'bold'), text('b', 'italic'), text('c', 'strike'), text('d', 'code'), text('e', 'underline')),
      '<p><strong>a</strong><em>b</em><s>c</s><code>d</code><u>e</u></p>',
      '**a***b*~~c~~`d`e',
    ],
    [
      'a link',
      paragraph(text('here', link('https://a.example/?x=1&y=2'))),
      '<p><a href="https://a.example/?x=1&amp;y=2" rel="noopener noreferrer">here</a></p>',
      '[here](https://a.example/?x=1&y=2)',
    ],
    ['a heading', { ...node('heading', text('Care')), attrs: { level: 3 } }, '<h3>Care</h3>', '### Care'],
    [
      'lists in lists',
      node(
        'bulletList',
        node('listItem', paragraph(text('one')), { ...node('orderedList', node('listItem', paragraph(text('two')))), attrs: { start: 4 } }),
      ),
      '<ul><li><p>one</p><ol start="4"><li><p>two</p></li></ol></li></ul>',
      '- one\n\n  4. two',
    ],
    [
      'tasks',
      node('taskList', { ...node('taskItem', paragraph(text('wash'))), attrs: { checked: true } }),
      '<ul><li>☑ <p>wash</p></li></ul>',
      '- [x] wash',
    ],
    ['a quote', node('blockquote', paragraph(text('said'))), '<blockquote><p>said</p></blockquote>', '> said'],
    [
      'code',
      { ...node('code_block', text('a < b')), attrs: { language: 'ts' } },
      '<pre><code class="language-ts">a &lt; b</code></pre>',
      '```ts\na < b\n```',
    ],
    [
      'an image',
      { type: 'image', attrs: { src: 'https://a.example/b.png', alt: 'A shirt', width: 300 } },
      '<img src="https://a.example/b.png" alt="A shirt" width="300" loading="lazy">',
      '![A shirt](https://a.example/b.png)',
    ],
    [
      'a table',
      node(
        'table',
        node('tableRow', node('tableHeader', paragraph(text('Size')))),
        node('tableRow', { ...node('tableCell', paragraph(text('M|L'))), attrs: { colspan: 2 } }),
      ),
      '<table><tbody><tr><th><p>Size</p></th></tr><tr><td colspan="2"><p>M|L</p></td></tr></tbody></table>',
      '| Size |\n| --- |\n| M\\|L |',
    ],
    ['breaks', paragraph(text('a'), { type: 'hard_break' }, text('b')), '<p>a<br>b</p>', 'a\\\nb'],
    ['a rule', { type: 'horizontalRule' }, '<hr>', '---'],
    ['what nobody knows', node('callout', paragraph(text('kept'))), '<p>kept</p>', 'kept'],
  ])('%s', (_, document, html, markdown) => {
    expect(richTextHtml(node('doc', document))).toBe(html)
    expect(richTextMarkdown(node('doc', document))).toBe(markdown)
  })

  test('nothing at all', () => {
    for (const document of [null, undefined, {}, { type: 'doc' }, 7])
      expect([richTextHtml(document), richTextMarkdown(document)]).toEqual(['', ''])
  })

  test.each([' ', '\t', '\u00a0', '\u2028', '\r', '\n ', '1', '`', '\\', '&', '['])('100,000 characters of %j, in time', (character) => {
    const words = character.repeat(100_000 / character.length)
    for (const some of [words, `x${words}x`]) {
      const document = node('doc', paragraph(text(some), text(some, 'code'), text(some, link(some))), node('codeBlock', text(some)))
      expect([typeof richTextHtml(document), typeof richTextMarkdown(document)]).toEqual(['string', 'string'])
    }
  })

  test('no more Markdown than it may make of many lines in many levels', () => {
    let deep: object = node('codeBlock', text('\na'.repeat(60_000)))
    for (let n = 0; n < 22; n++) deep = { ...node('orderedList', node('listItem', deep)), attrs: { start: 1_000_000 } }
    expect(richTextMarkdown(node('doc', deep)).length).toBeLessThan(2_000_000)
    let quoted: object = node('codeBlock', text('\na'.repeat(60_000)))
    for (let n = 0; n < 46; n++) quoted = node('blockquote', quoted)
    expect(richTextMarkdown(node('doc', quoted)).length).toBeLessThan(2_000_000)
  })

  test('a document of 100,000 nodes, or nested as deep as a body may be, in time', () => {
    let deep: object = paragraph(text('x'))
    for (let n = 0; n < 200; n++) deep = node('blockquote', deep)
    expect(richTextHtml(node('doc', deep))).toContain('<blockquote>')
    const wide = node('doc', ...Array.from({ length: 100_000 }, () => paragraph(text('x'))))
    expect(richTextHtml(wide).length).toBe(800_000)
  })
})
