import { afterAll, expect, test } from 'vitest'
import { cleanUp, startShop } from './processes.ts'

afterAll(cleanUp)

test.each([
  ['a length that says so', (bytes: Uint8Array<ArrayBuffer>) => bytes],
  ['no length', (bytes: Uint8Array<ArrayBuffer>) => new Response(bytes).body!],
])('a body of 20 MB with %s is refused with 413, an error and the request id', async (_, body) => {
  const { api, keys } = await startShop()
  const { admin } = keys
  const answer = await fetch(`${api}/api/v1/products`, {
    method: 'POST',
    headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json', 'x-request-id': 'large' },
    body: body(new Uint8Array(20_000_000).fill(32)),
  })
  expect([answer.status, answer.headers.get('x-request-id')]).toEqual([413, 'large'])
  expect((await answer.json()).error).toMatch(/larger than 1048576 bytes/)
})
