import fc from 'fast-check'
import { expect, test } from 'vitest'
import { withOwnPaths } from '../../api/builder/own-files.ts'
import { expectLinear } from './growth.ts'

const ID = '01a20610-2372-70b7-a888-5971927c4575'
const FOLDER = `/cdn/${ID}/live/`

test('own files are paths of the host, whatever BASE_URL was when they were uploaded; those of others stay', () => {
  const text = JSON.stringify([`http://127.0.0.1:3000${FOLDER}a/1.webp`, `https://x.example/api${FOLDER}b.webp`])
  expect(JSON.parse(withOwnPaths(text, ID))).toEqual([`${FOLDER}a/1.webp`, `${FOLDER}b.webp`])
  const foreign = `"https://x.example/cdn/01a20610-0000-70b7-a888-5971927c4575/live/a.webp https://y.example/ ${FOLDER}"`
  expect(withOwnPaths(foreign, ID)).toBe(foreign)
  expect(withOwnPaths(`http://a${FOLDER}1.webp,http://a${FOLDER}2.webp`, ID)).toBe(`${FOLDER}1.webp,${FOLDER}2.webp`)
})

test('what is a URL of an own file is what a pattern says that is for short texts alone', () => {
  const pattern = new RegExp(`https?://[^/"\\\\\\s]+(?:/[^"\\\\\\s]*?)??${FOLDER}`, 'g')
  const part = fc.constantFrom(
    ...['http://', 'https://', 'http', 's', ':', '//', '/', 'x.example', 'api', FOLDER, FOLDER.slice(1), '/cdn/', '"', '\\'],
    ...[' ', '\n', '\u00a0', '\u2028', '\u007f', 'é', '😀'],
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 24 }), (parts) => {
      const text = parts.join('')
      expect(withOwnPaths(text, ID)).toBe(text.replace(pattern, FOLDER))
    }),
    { numRuns: 20_000 },
  )
})

test.each(['http://a/', 'http://', 'http', 'x', '/cdn/', FOLDER, `http://a${FOLDER}`, `http://a/${FOLDER.slice(0, -1)}`])(
  'a text of %s over and over takes time as it is long',
  (piece) => expectLinear((text) => withOwnPaths(text, ID), piece, `"${FOLDER}`),
)
