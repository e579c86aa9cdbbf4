/** Files of a build as they are sent: what a project made large takes nobody's time. */
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Bodies } from '../../api/hosting/bodies.ts'
import { Folder } from '../../api/hosting/folder.ts'
import { Prepared } from '../../api/hosting/prepared.ts'
import { folderFor } from '../folder.ts'

const [HERE, THERE] = ['http://shop.localhost:3000', 'https://shop.example']
const TEXT = 'text/plain; charset=utf-8'

async function built(name: string, bytes: number, type = TEXT) {
  const folder = folderFor('bodies')
  mkdirSync(folder, { recursive: true })
  const text = `${HERE}/${name} `.repeat(Math.ceil(bytes / (HERE.length + name.length + 2))).slice(0, bytes)
  const entry = await new Folder(folder).store(name, type, new Uint8Array(Buffer.from(text)))
  return { folder, entry, text }
}

test('a small text that is served elsewhere has the addresses of there, in any encoding', async () => {
  const { folder, entry, text } = await built('a.txt', 5_000)
  const bodies = new Bodies(folder, [[HERE, THERE]])
  expect([...bodies.encodings(entry)]).toEqual(['identity', 'br', 'zstd', 'gzip'])
  const moved = text.replaceAll(HERE, THERE)
  for (const encoding of bodies.encodings(entry)) {
    const { content, size } = bodies.read(entry, encoding)
    expect((content as Uint8Array).length).toBe(size)
    if (encoding === 'zstd') expect(Bun.zstdDecompressSync(content as Uint8Array<ArrayBuffer>).toString()).toBe(moved)
  }
  expect(bodies.text(entry)).toBe(moved)
})

test('a larger one is packed by what is quick, and what is larger still is sent as it was built', async () => {
  const larger = await built('b.txt', 300_000)
  expect([...new Bodies(larger.folder, [[HERE, THERE]]).encodings(larger.entry)]).toEqual(['identity', 'zstd'])
  const largest = await built('c.txt', 4_200_000)
  const moved = new Bodies(largest.folder, [[HERE, THERE]])
  expect([...moved.encodings(largest.entry)]).toEqual(['identity'])
  const { content, etag } = moved.read(largest.entry, 'identity')
  expect([await new Response(content).text(), etag]).toEqual([largest.text, largest.entry.etags.identity])
})

test('a large file is not read before it is sent, and is gone when it is gone', async () => {
  const { folder, entry } = await built('d.bin', 3_000_000, 'application/octet-stream')
  const bodies = new Bodies(folder, [])
  const body = bodies.read(entry, 'identity')
  expect(body.content).toBeInstanceOf(Blob)
  const prepared = new Prepared(body, { 'content-type': entry.type })
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => prepared.answer(request) })
  try {
    for (let n = 0; n < 2; n++) {
      const answer = await fetch(server.url)
      expect(answer.headers.get('content-type')).toBe('application/octet-stream')
      expect((await answer.bytes()).length).toBe(statSync(join(folder, 'd.bin')).size)
    }
    const head = await fetch(server.url, { method: 'HEAD' })
    expect([head.status, (await head.bytes()).length]).toEqual([200, 0])
  } finally {
    await server.stop(true)
  }
  writeFileSync(join(folder, 'd.bin'), '')
  Bun.file(join(folder, 'd.bin')).unlink()
  await Bun.sleep(10)
  expect(() => bodies.read(entry, 'identity')).toThrow('ENOENT')
})
