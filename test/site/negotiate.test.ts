import { describe, expect, test } from 'vitest'
import { encodingFor, type Encoding } from '../../api/values/accept.ts'
import { formFor, prefersProblem } from '../../api/hosting/negotiate.ts'

describe('the form of a page', () => {
  test.each([
    [null, 'html'],
    ['', 'html'],
    ['*/*', 'html'],
    ['text/*', 'html'],
    ['text/*, */*', 'html'],
    ['text/markdown', 'markdown'],
    ['text/x-markdown', 'markdown'],
    ['TEXT/Markdown', 'markdown'],
    ['text/markdown;charset=utf-8', 'markdown'],
    ['text/markdown; variant=CommonMark; q=0.5, text/html;q=0.4', 'markdown'],
    ['text/markdown, text/html, */*', 'markdown'],
    ['text/html, text/markdown', 'html'],
    ['text/html;q=0.9, text/markdown', 'markdown'],
    ['text/markdown;q=0.9, text/html', 'html'],
    ['text/html;q=0, */*', 'markdown'],
    ['text/html;q=0, text/markdown;q=0, */*', 'text'],
    ['text/markdown;q=0, */*', 'html'],
    ['text/markdown, */*;q=0.1', 'markdown'],
    ['*/*;q=0.1, text/markdown', 'markdown'],
    ['text/plain', 'text'],
    ['text/plain, text/html;q=0.5', 'text'],
    ['text/html, text/plain', 'html'],
    ['text/plain, */*;q=0.1', 'text'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8', 'html'],
    ['application/xhtml+xml', null],
    ['text/html;q=0, application/xhtml+xml', null],
    ['*/*, text/markdown', 'html'],
    ['text/markdown, */*', 'markdown'],
    [`${'x/y, '.repeat(500)}text/markdown`, 'markdown'],
    ['text/markdown;q=0.001, text/html;q=0.002', 'html'],
    ['text/markdown;q=banana', 'markdown'],
    [',,text/markdown,,', 'markdown'],
    // What stands between quotes is one value, whatever is in it.
    ['text/markdown;a="x,text/html;q=1";q=0.5, text/plain;q=0.4', 'markdown'],
    ['text/markdown;a="1, 2";q=0.2, text/html;q=0.5', 'html'],
    ['application/json;profile="a, text/html, b"', null],
    ['text/html;a="q=0;q=0", text/markdown;q=0.9', 'html'],
    ['text/html;a=";q=0";q=0.1, text/markdown;q=0.9', 'markdown'],
    [String.raw`application/json;a="\\", text/markdown`, 'markdown'],
    [String.raw`application/json;a="\", text/markdown"`, null],
    ['text/markdown;a="", text/html;q=0.5', 'markdown'],
    ['text/markdown, text/html;a="never closed', 'markdown'],
    [`text/markdown;a="${',;'.repeat(5_000)}", text/html;q=0.5`, 'markdown'],
    ['application/json', null],
    ['image/png', null],
    ['text/html;q=0', null],
    ['*/*;q=0', null],
    ['text/*;q=0, application/json', null],
  ])('Accept: %s is %s', (accept, form) => {
    expect(formFor(accept)).toBe(form)
  })
})

test.each([
  [null, false],
  ['*/*', false],
  ['text/html, application/json', false],
  ['application/json', true],
  ['application/json, */*', true],
  ['application/problem+json', true],
  ['text/markdown, text/html, */*', true],
  ['text/html, text/markdown;q=0.9', false],
  ['application/json;q=0', false],
  ['text/html;q=0, */*', true],
  ['text/*, text/html;q=0.1', true],
  ['application/*', true],
  ['application/*, text/html;q=0.5', true],
  ['text/plain', true],
  ['text/html, */*;q=0.8', false],
  ['image/png', false],
  ['image/png;a="x, application/json"', false],
  ['application/json;a="x, y";q=0.5, text/html;q=0.4', true],
])('a client that sends Accept: %s would rather read a problem: %s', (accept, problem) => {
  expect(prefersProblem(accept)).toBe(problem)
})

describe('the encoding', () => {
  const all = new Set<Encoding>(['br', 'zstd', 'gzip', 'identity'])
  test.each([
    [null, 'identity'],
    ['', 'identity'],
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, zstd', 'zstd'],
    ['br;q=0.5, gzip', 'gzip'],
    ['br;q=0, gzip;q=0, zstd;q=0', 'identity'],
    ['*', 'br'],
    ['br;q=0, *', 'zstd'],
    ['identity, gzip;q=0.5', 'identity'],
    ['identity;q=0.5, gzip', 'gzip'],
    ['deflate', 'identity'],
    ['BR', 'br'],
    ['x-gzip', 'gzip'],
    [`${'x, '.repeat(200)}gzip`, 'gzip'],
  ])('Accept-Encoding: %s is %s', (header, encoding) => {
    expect(encodingFor(header, all)).toBe(encoding)
  })

  test('is one that was made', () => {
    expect(encodingFor('br, gzip', new Set<Encoding>(['identity', 'gzip']))).toBe('gzip')
    expect(encodingFor('br', new Set<Encoding>(['identity']))).toBe('identity')
  })
})
