/** The requests of pages as their heads and tabs show them: what a shell would send, the operation, and the same in TypeScript. */
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { curlOf, written } from '../../site/lib/curl.ts'
import { requestOf, statusOf, typescriptOf, variablesOf } from '../../site/lib/requests.ts'
import { readPages } from '../../site/lib/content.ts'
import { folderFor } from '../folder.ts'
import { problemsIn } from '../sdk/strict.ts'

const asked = (text: string) => {
  const curl = curlOf(text)
  return (
    curl && {
      ...curl,
      url: written(curl.url),
      headers: curl.headers.map(([name, value]) => [name, written(value)]),
      body: curl.body && written(curl.body),
    }
  )
}

test('a command is read as a shell reads it', () => {
  expect(
    asked(`curl -X PUT "$STORE_URL/a/\${ID}?b=c" -H 'If-Match: "x"' \\\n  -H "Authorization: Bearer $KEY" -d '{"a":"'$A'","b":'"$B"'}'`),
  ).toEqual({
    method: 'PUT',
    url: '$STORE_URL/a/$ID?b=c',
    headers: [
      ['if-match', '"x"'],
      ['authorization', 'Bearer $KEY'],
    ],
    body: '{"a":"$A","b":$B}',
  })
  expect(asked(`curl http://x -d "{\\"a\\": 1}"`)).toMatchObject({ method: 'POST', body: '{"a": 1}' })
})

test.each([
  ['two commands', 'curl http://a\ncurl http://b'],
  ['a pipe', 'curl http://a | head'],
  ['what a shell fills in', 'curl "http://a/$(date)"'],
  ['another program', 'wget http://a'],
  ['a form', 'curl http://a -F file=@b'],
  ['a quote that does not end', "curl 'http://a"],
  ['two addresses', 'curl http://a http://b'],
])('%s is no plain request', (_, text) => expect(curlOf(text)).toBeNull())

test.each([
  [
    `curl "$STORE_URL/api/v1/carts" -H "Authorization: Bearer $STOREFRONT_KEY" -d '{"email":"ada@example.com","items":[{"variantId":"'$VARIANT_ID'","quantity":1}]}'`,
    ['createCart', 201, "await stoa.carts.create({\n  email: 'ada@example.com',\n  items: [{ variantId, quantity: 1 }],\n})"],
  ],
  [
    'curl "$STORE_URL/api/v1/products?inStock=true&limit=2&sort=-price" -H "Authorization: Bearer $API_KEY"',
    ['listProducts', 200, "await stoa.products.list({ inStock: true, limit: 2, sort: '-price' })"],
  ],
  [
    `curl -X PATCH "$STORE_URL/api/v1/products/$PRODUCT_ID" -H 'If-Match: "a"' -d '{"price": 5}'`,
    ['updateProduct', 200, `await stoa.products.update(productId, { price: 5 }, { ifMatch: '"a"' })`],
  ],
  ['curl -X DELETE "$STORE_URL/api/v1/webhooks/$ID"', ['deleteWebhook', 200, 'await stoa.webhooks.delete(id)']],
])('%s', (text, expected) => {
  const request = requestOf(text)!
  expect([request.route.options.operationId, statusOf(request), typescriptOf(request)]).toEqual(expected)
})

test('a literal part of a path goes before a name, and a path of no operation is none', () => {
  expect(requestOf('curl "$STORE_URL/api/v1/team/invitations"')!.route.path).toBe('/team/invitations')
  expect(requestOf('curl "$STORE_URL/api/v1/nothing/here"')).toBeNull()
  expect(requestOf('curl "$STORE_URL/api/v2/products"')).toBeNull()
})

test('what pages show in TypeScript is accepted by the compiler, strict, against the package', async () => {
  const folder = folderFor('tabs')
  symlinkSync(new URL('../../node_modules', import.meta.url).pathname, join(folder, 'node_modules'))
  const files: string[] = []
  let count = 0
  for (const { path, code } of readPages(new URL('../..', import.meta.url).pathname).pages) {
    const requests = code
      .filter(({ language, meta }) => language === 'sh' && !/\bstatus=/.test(meta))
      .flatMap(({ text }) => requestOf(text) ?? [])
      .filter((request) => typescriptOf(request))
    if (!requests.length) continue
    count += requests.length
    const given = new Set(requests.flatMap(variablesOf))
    // Each stands for itself: a reader takes one of them.
    const blocks = requests.map((request) => `{\n${typescriptOf(request)}\n}\n`)
    const file = `${path.slice(1).replaceAll('/', '-')}.ts`
    writeFileSync(
      join(folder, file),
      `import { Stoa } from 'stoa-sdk'\ndeclare const stoa: Stoa\n${[...given].map((name) => `declare const ${name}: string\n`).join('')}${blocks.join('')}`,
    )
    files.push(file)
  }
  expect(count).toBeGreaterThan(350)
  expect(await problemsIn(folder, files)).toEqual([])
  writeFileSync(
    join(folder, 'wrong.ts'),
    "import { Stoa } from 'stoa-sdk'\ndeclare const stoa: Stoa\nawait stoa.carts.create({ emial: 'a' })\nexport {}\n",
  )
  expect((await problemsIn(folder, ['wrong.ts'])).join()).toContain('emial')
}, 180_000)
