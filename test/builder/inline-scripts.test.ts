/** The scripts of a page, beside those that htmlparser2's tokenizer finds, and on pages that are made to take long. */
import fc from 'fast-check'
import { Tokenizer } from 'htmlparser2'
import { expect, test } from 'vitest'
import { inlineScripts } from '../../api/hosting/inline-scripts.ts'

const hashOf = (script: string) => `'sha256-${new Bun.CryptoHasher('sha256').update(script).digest('base64')}'`

/** The same by the tokenizer, which reads letter by letter. */
function byTokenizer(html: string): string[] {
  const hashes = new Set<string>()
  let [name, attribute, type, hasSource, from] = ['', '', '', false, -1]
  const nothing = () => {}
  const opened = (end: number) => {
    from = name === 'script' && !hasSource && !type.includes('json') ? end + 1 : -1
  }
  const tokenizer = new Tokenizer({ xmlMode: false, decodeEntities: false }, {
    onopentagname(start, end) {
      ;[name, type, hasSource] = [html.slice(start, end).toLowerCase(), '', false]
    },
    onattribname(start, end) {
      attribute = html.slice(start, end).toLowerCase()
      if (attribute === 'src') hasSource = true
    },
    onattribdata(start, end) {
      if (attribute === 'type') type += html.slice(start, end)
    },
    onopentagend: opened,
    onselfclosingtag: opened,
    onclosetag(start, end) {
      if (html.slice(start, end).toLowerCase() === 'script' && from >= 0) {
        hashes.add(hashOf(html.slice(from, start - 2)))
        from = -1
      }
    },
    ...{ onattribend: nothing, onattribentity: nothing, ontext: nothing, ontextentity: nothing, oncdata: nothing },
    ...{ oncomment: nothing, ondeclaration: nothing, onprocessinginstruction: nothing, onend: nothing },
  } as ConstructorParameters<typeof Tokenizer>[1])
  tokenizer.write(html)
  tokenizer.end()
  return [...hashes]
}

test('are those of elements, not of what looks like one in an attribute, a comment or a text', () => {
  const page = `<p title="<script>a</script>"><!-- <script>b</script> --><textarea><script>c</script></textarea><title><script>d</script></title>
<script>e</script><script type="application/ld+json">{}</script><script src=x></script><script data-x=">" src='y'>f</script>
<noscript><script>g</script></noscript><iframe><script>h</script></iframe><SCRIPT type=module>i\r\nj</SCRIPT ><script/>k</script>`
  expect(inlineScripts(page)).toEqual(['e', 'i\nj', 'k'].map(hashOf))
})

const PIECES = [
  ...[
    '<script>',
    '</script>',
    '<script ',
    'src=x',
    '>',
    '"',
    "'",
    '=',
    '<!--',
    '-->',
    '--',
    '--!>',
    '<textarea>',
    '</textarea>',
    'a',
    ' ',
    '\n',
  ],
  ...['<p title="', '<title>', '</title>', '<style>', '</style>', '/', ' type="x/json"', '<b>', '</b>', '<', '!', '</', '?'],
]

test('are those that a tokenizer finds, in any order of marks', () => {
  const marks = fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(marks, (html) => {
      expect(inlineScripts(html)).toEqual(byTokenizer(html))
    }),
    { numRuns: 20_000 },
  )
})

test.each([...PIECES, '<script>x</script>', '<a b="'])('are found in a time that grows as the page does: %j', (piece) => {
  const msOf = (bytes: number) => {
    const page = piece.repeat(bytes / piece.length)
    const times = Array.from({ length: 3 }, () => {
      const started = performance.now()
      inlineScripts(page)
      return performance.now() - started
    })
    return Math.min(...times)
  }
  // Where it took the square of it, these would be a hundred times as much, and the larger minutes.
  expect(msOf(500_000)).toBeLessThan(25 * msOf(50_000) + 50)
})
