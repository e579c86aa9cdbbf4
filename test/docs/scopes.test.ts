/** What pages say of scopes, beside the scopes that there are and what the API opens to them. */
import type { Nodes } from 'mdast'
import { expect, test } from 'vitest'
import type { Json } from '../../api/openapi/schemas.ts'
import { STOREFRONT_SCOPES } from '../../db/control/registry.ts'
import { SCOPES } from '../../db/control/scopes.ts'
import { readContent, type Page } from '../../site/lib/content.ts'
import { parse, textOf, walk } from '../../site/lib/markdown.ts'
import { storeApi } from '../../site/lib/reference.ts'

const { pages } = readContent(new URL('../..', import.meta.url).pathname)
/** Releases tell of what was. */
const current = pages.filter(({ kind }) => kind !== 'changelog')
const known: ReadonlySet<string> = new Set(SCOPES)
const ROOMS = new Set(SCOPES.map((scope) => scope.split(':')[0]!))
const RIGHTS = new Set(SCOPES.map((scope) => scope.split(':')[1]!))

/** The words of a text that look like scopes: those of a room that scopes have, and those that end as scopes do. */
const scopesIn = (text: string) =>
  (text.match(/(?<![\w:/.{-])[a-z]+:[a-z]+(?![\w:/])/g) ?? []).filter((word) => {
    const [room, right] = word.split(':') as [string, string]
    return ROOMS.has(room) || RIGHTS.has(right)
  })

test('each scope that a page names is one', () => {
  const named = current.flatMap(({ file, body }) => scopesIn(body).map((scope) => ({ file, scope })))
  expect(named.filter(({ scope }) => !known.has(scope))).toEqual([])
  expect(named.length).toBeGreaterThan(100)
})

test('what is no scope is noticed, in words, lists and code', () => {
  expect(scopesIn('`order:read`, --scopes orders:read,catalogue:write and "scopes": ["store:admn"]')).toEqual([
    'order:read',
    'orders:read',
    'catalogue:write',
    'store:admn',
  ])
  expect(scopesIn('https://orders.example, media:image, 12:30, sqlite:read-only, {when:orders}')).toEqual(['sqlite:read'])
})

interface Said {
  text: string
  codes: string[]
}

/** The sentences and the rows of tables of a page, each with what stands in it as code. */
function saidOn({ body }: Page): Said[] {
  const said: Said[] = []
  walk(parse(body), (node) => {
    if (node.type === 'tableRow') said.push({ text: textOf(node), codes: codesIn(node) })
    if (node.type !== 'paragraph') return
    said.push({ text: '', codes: [] })
    for (const part of node.children) {
      const [first, ...more] = part.type === 'inlineCode' ? [part.value] : textOf(part).split(/(?<=[.:;!?])\s/)
      said.at(-1)!.text += first
      said.at(-1)!.codes.push(...codesIn(part))
      said.push(...more.map((text) => ({ text, codes: [] })))
    }
  })
  return said
}

function codesIn(node: Nodes): string[] {
  const codes: string[] = []
  walk(node, (inner) => inner.type === 'inlineCode' && codes.push(inner.value))
  return codes
}

const operations = Object.entries(storeApi().paths as Record<string, Json>).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    method: method.toUpperCase(),
    steps: path.split('/'),
    scopes: ((operation as Json)['x-scopes'] ?? []) as string[],
  })),
)

/** The operation that a page means by `GET /orders?customerId=…`; null for what the API does not have. */
function operationOf(name: string) {
  const [method, path = ''] = name.split('?')[0]!.split(' ')
  const steps = path.split('/')
  return operations.find(
    (one) =>
      one.method === method && one.steps.length === steps.length && one.steps.every((step, i) => step === steps[i] || /^\{/.test(step)),
  )
}

test('a sentence or a row with an operation and a scope names one that opens it', () => {
  const about = current
    .filter(({ body }) => !body.startsWith('> **Not in this release.**'))
    .flatMap((page) => saidOn(page).map((said) => ({ file: page.file, ...said, scopes: said.codes.flatMap(scopesIn) })))
    .flatMap(({ file, text, codes, scopes }) =>
      (scopes.length ? codes : [])
        .filter((code) => /^(GET|POST|PUT|PATCH|DELETE) \//.test(code))
        .map((operation) => ({ file, text, operation, scopes })),
    )
  const wrong = about.filter(({ operation, scopes }) => !operationOf(operation)?.scopes.some((scope) => scopes.includes(scope)))
  expect(wrong.map(({ file, text, operation }) => `${file}: ${operation}: ${text}`)).toEqual([])
  expect(about.length).toBeGreaterThan(30)
})

test('a list of all scopes of a storefront key is the one that such a key gets', () => {
  const lists = current.flatMap((page) =>
    saidOn(page)
      .filter(({ text, codes }) => /storefront( key)?\b/i.test(text) && codes.filter((code) => STOREFRONT_SCOPES.includes(code)).length > 2)
      .map(({ codes }) => [page.file, codes.filter((code) => known.has(code)).toSorted()] as const),
  )
  expect(lists.length).toBeGreaterThan(2)
  // A row of the reference lists all that there are.
  for (const [file, scopes] of lists.filter(([, scopes]) => scopes.length < SCOPES.length))
    expect(scopes, file).toEqual(STOREFRONT_SCOPES.toSorted())
})
