/** Backup, restore, removal and doctor of an installation whose files are in an S3 store: the commands, in processes of their own. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { form, png } from '../content/pictures.ts'
import { s3Double, type S3Double } from '../doubles/s3.ts'
import { cleanUp, createStore, folder, run, startApi, type StartedApi } from './processes.ts'

let s3: S3Double
let dataDir: string
let store: Awaited<ReturnType<typeof createStore>>
let server: StartedApi
let image: { id: string; url: string }
beforeAll(async () => {
  s3 = await s3Double()
  dataDir = folder()
  store = await createStore(dataDir, 'Atelier')
  server = await startApi({ DATA_DIR: dataDir, ...s3.env })
  const headers = { authorization: `Bearer ${store.keys.admin}` }
  const uploaded = await fetch(`${server.api}/api/v1/media`, { method: 'POST', headers, body: form(await png()) })
  expect(uploaded.status).toBe(201)
  image = (await uploaded.json()) as typeof image
})
beforeEach(() => {
  s3.mood = 'well'
})
afterAll(async () => {
  await cleanUp()
  s3.close()
})

const stoa = async (env: Record<string, string>, ...args: string[]) => {
  const { code, stdout, stderr } = await run([process.execPath, 'scripts/stoa.ts', ...args, '--json'], env).ended
  return { code, stderr, body: stdout ? JSON.parse(stdout) : null }
}
const withS3 = (dir: string, other = s3) => ({ DATA_DIR: dir, ...other.env })
const media = (of = s3) => [...of.objects.keys()].filter((key) => key.startsWith('media/')).toSorted()
const below = (dir: string) =>
  existsSync(join(dir, 'media'))
    ? (readdirSync(join(dir, 'media'), { recursive: true }) as string[]).filter((path) => path.includes('.')).map((path) => `media/${path}`)
    : []

test('a backup takes the files of the store along, and a restore brings them to where files are kept there', async () => {
  const file = `${folder()}/atelier.backup`
  expect(await stoa(withS3(dataDir), 'store', 'backup', store.id, '--to', file)).toMatchObject({ code: 0 })
  expect(below(dataDir)).toEqual([])
  const [elsewhere, plain] = [folder(), folder()]
  const other = await s3Double()
  try {
    expect(await stoa(withS3(elsewhere, other), 'store', 'restore', store.id, '--from', file)).toMatchObject({ code: 0 })
    expect(media(other)).toEqual(media())
    for (const key of media()) expect(Buffer.from(other.objects.get(key)!.bytes).equals(s3.objects.get(key)!.bytes)).toBe(true)
    expect(await stoa({ DATA_DIR: plain }, 'store', 'restore', store.id, '--from', file)).toMatchObject({ code: 0 })
    expect(below(plain).toSorted()).toEqual(media())
    // And from a folder into an S3 store, where those that are there already are not written again.
    const back = `${folder()}/back.backup`
    expect(await stoa({ DATA_DIR: plain }, 'store', 'backup', store.id, '--to', back)).toMatchObject({ code: 0 })
    const [first] = media()
    s3.objects.delete(first!)
    s3.seen = []
    expect(await stoa(withS3(dataDir), 'store', 'restore', store.id, '--from', back, '--yes')).toMatchObject({ code: 0 })
    expect(s3.seen.filter((line) => line.startsWith('PUT'))).toEqual([`PUT ${first}`])
    expect((await fetch(image.url)).status).toBe(200)
  } finally {
    other.close()
  }
})

test('an installation is backed up and restored with them, too', async () => {
  const to = folder()
  expect(await stoa(withS3(dataDir), 'backup', '--to', to)).toMatchObject({ code: 0, body: { failed: [] } })
  const other = await s3Double()
  try {
    expect(await stoa(withS3(folder(), other), 'restore', '--from', to, '--yes')).toMatchObject({ code: 0, body: { failed: [] } })
    expect(media(other)).toEqual(media())
  } finally {
    other.close()
  }
})

test('a backup that can not read them is none, and says why', async () => {
  const file = `${folder()}/atelier.backup`
  s3.mood = 'down'
  const { code, stderr } = await stoa(withS3(dataDir), 'store', 'backup', store.id, '--to', file)
  expect([code, stderr, existsSync(file)]).toEqual([1, expect.stringContaining('SlowDown'), false])
})

test('doctor writes, reads and removes a file, and names files that were left in the data folder', async () => {
  const files = async (env: Record<string, string>) =>
    (await stoa(env, 'doctor')).body.checks.find(({ name }: { name: string }) => name === 'files')
  const where = `stoa-files at ${s3.place.endpoint}`
  expect(await files({ DATA_DIR: dataDir })).toEqual({ name: 'files', ok: true, message: `media and deployments are in ${dataDir}` })
  expect(await files(withS3(dataDir))).toEqual({ name: 'files', ok: true, message: `${where} is written and read` })
  expect([...s3.objects.keys()].filter((key) => key.startsWith('doctor'))).toEqual([])
  expect(await files({ ...withS3(dataDir), S3_SECRET_ACCESS_KEY: 'another' })).toEqual({
    ...{ name: 'files', ok: false },
    message: `the S3 store ${where} failed: 403 SignatureDoesNotMatch: check S3_ENDPOINT, S3_BUCKET and the keys`,
  })
  const other = folder()
  await createStore(other, 'Moved')
  for (const path of media()) {
    mkdirSync(join(other, path, '..'), { recursive: true })
    writeFileSync(join(other, path), '')
  }
  // Of those that were copied nothing is said, wherever they still are.
  expect(await files(withS3(other))).toMatchObject({ ok: true })
  const [id, another] = [crypto.randomUUID(), crypto.randomUUID()]
  mkdirSync(join(other, 'media', store.id, 'live', id), { recursive: true })
  mkdirSync(join(other, 'media', another, 'live', id), { recursive: true })
  writeFileSync(join(other, 'media', store.id, 'live', id, 'image.png'), '')
  writeFileSync(join(other, 'media', another, 'live', id, 'attachment'), '')
  expect(await files(withS3(other))).toEqual({
    ...{ name: 'files', ok: false },
    message: `${where} is written and read, but lacks 2 files that the data folder has: copy ${join(other, 'media')} to stoa-files/media`,
  })
})

test('a store that is deleted leaves no files; one whose files could not be removed is cleared away by the next start', async () => {
  const { id, slug } = await createStore(dataDir, 'Gone')
  for (const key of [`media/${id}/live/x/image.png`, `deployments/${id}/dpl_x.tar.zst`])
    s3.objects.set(key, { bytes: new Uint8Array(1), type: '', at: new Date() })
  const ofGone = () => [...s3.objects.keys()].filter((key) => key.includes(id))
  s3.mood = 'down'
  const { code, stderr } = await stoa(withS3(dataDir), 'store', 'delete', slug, '--yes')
  expect([code, stderr]).toEqual([1, expect.stringContaining('the S3 store')])
  expect(ofGone()).toHaveLength(2)
  // A start waits for no S3 store.
  expect(await stoa(withS3(dataDir), 'migrate')).toMatchObject({ code: 0 })
  s3.mood = 'well'
  expect(await stoa(withS3(dataDir), 'migrate')).toMatchObject({ code: 0 })
  expect([ofGone(), media().length]).toEqual([[], 2])
})
