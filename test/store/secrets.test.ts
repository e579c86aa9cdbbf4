import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { folderFor } from '../folder.ts'
import { addKey, forgetKeys, KEY_FILE, keysIn, LOOK_MS, secretsIn } from '../../api/server/key-file.ts'
import { secretsWith } from '../../api/outside/secrets.ts'
import { examine } from '../../scripts/doctor.ts'

let folder: string
beforeEach(() => {
  folder = folderFor('secrets')
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('sealed values', () => {
  const value = { password: 'hunter2 ł', list: [1, null] }

  test('open under the same key and place alone', () => {
    const secrets = secretsWith('key one')
    const sealed = secrets.seal(value, 'here')
    expect(secrets.open<unknown>(sealed, 'here')).toEqual(value)
    expect(secretsWith('key one').open<unknown>(sealed, 'here')).toEqual(value)
    expect(secretsWith('key two').open(sealed, 'here')).toBeNull()
    expect(secrets.open(sealed, 'there')).toBeNull()
  })

  test('do not open once a bit of them has changed', () => {
    const secrets = secretsWith('key one')
    const bytes = Buffer.from(secrets.seal(value, 'here').slice(3), 'base64url')
    for (let i = 0; i < bytes.length; i++) {
      const other = Buffer.from(bytes)
      other[i]! ^= 1
      expect(secrets.open(`v1.${other.toString('base64url')}`, 'here')).toBeNull()
    }
    for (const broken of ['', 'v1.', 'v1.AAAA', `v2.${bytes.toString('base64url')}`, bytes.toString('base64url')])
      expect(secrets.open(broken, 'here')).toBeNull()
  })

  test('of a key before the newest open, and what is sealed opens with the newest alone', () => {
    const both = secretsWith('key two', 'key one', 'key zero')
    for (const old of ['key one', 'key zero']) expect(both.open<unknown>(secretsWith(old).seal(value, 'here'), 'here')).toEqual(value)
    expect(both.open(secretsWith('key three').seal(value, 'here'), 'here')).toBeNull()
    const sealed = both.seal(value, 'here')
    expect(secretsWith('key two').open<unknown>(sealed, 'here')).toEqual(value)
    expect(secretsWith('key one', 'key zero').open(sealed, 'here')).toBeNull()
  })

  test('never are the same bytes twice', () => {
    const secrets = secretsWith('key one')
    expect(new Set(Array.from({ length: 50 }, () => secrets.seal(value, 'here'))).size).toBe(50)
  })
})

describe('the key in the data folder', () => {
  const file = () => join(folder, KEY_FILE)

  test('is made once, for this user alone, and leaves nothing beside it', () => {
    const [key] = keysIn(folder)
    expect(key).toMatch(/^[0-9a-f]{64}$/)
    expect(keysIn(folder)).toEqual([key])
    expect(readdirSync(folder)).toEqual([KEY_FILE])
    expect(statSync(file()).mode & 0o777).toBe(0o600)
  })

  test('of processes that start at once, all get the same one', async () => {
    const program = `import { keysIn } from './api/server/key-file.ts'; process.stdout.write(keysIn(${JSON.stringify(folder)})[0])`
    const children = Array.from({ length: 4 }, () => Bun.spawn([process.execPath, '-e', program], { stdout: 'pipe' }))
    const keys = await Promise.all(children.map((child) => new Response(child.stdout).text()))
    expect(new Set(keys)).toEqual(new Set([readFileSync(file(), 'utf8').trim()]))
    expect(readdirSync(folder)).toEqual([KEY_FILE])
  })

  test('is followed by who runs when another one is made before it, and when it is forgotten', async () => {
    const running = secretsIn(folder, [])
    const first = keysIn(folder)[0]!
    const before = running.seal('x', 'here')
    addKey(folder)
    const [newest, ...others] = keysIn(folder)
    expect(others).toEqual([first])
    expect(statSync(file()).mode & 0o777).toBe(0o600)
    await Bun.sleep(LOOK_MS + 100)
    const after = running.seal('y', 'here')
    expect(secretsWith(newest!).open<string>(after, 'here')).toBe('y')
    expect([running.open<string>(before, 'here'), running.open<string>(after, 'here')]).toEqual(['x', 'y'])
    // A file that is away for a moment closes nothing.
    const text = readFileSync(file())
    rmSync(file())
    await Bun.sleep(LOOK_MS + 100)
    expect(running.open<string>(after, 'here')).toBe('y')
    writeFileSync(file(), text, { mode: 0o600 })
    expect([forgetKeys(folder), keysIn(folder), forgetKeys(folder)]).toEqual([1, [newest], 0])
    await Bun.sleep(LOOK_MS + 100)
    expect([running.open<string>(before, 'here'), running.open<string>(after, 'here')]).toEqual([null, 'y'])
    expect(readdirSync(folder)).toEqual([KEY_FILE])
  })

  test('is not replaced when it is damaged: what it sealed would be lost', () => {
    writeFileSync(file(), 'half a key')
    expect(() => keysIn(folder)).toThrow(/^.+secret\.key is damaged: .+$/)
    expect(readFileSync(file(), 'utf8')).toBe('half a key')
  })

  test('stoa doctor minds that others can read it, unless SECRET_KEY is set', async () => {
    keysIn(folder)
    const configuration = async (env: Record<string, string> = {}) => (await examine({ DATA_DIR: folder, ...env }))[0]!
    expect((await configuration()).ok).toBe(true)
    chmodSync(file(), 0o644)
    expect(await configuration()).toEqual({
      name: 'configuration',
      ok: false,
      message: `${file()} can be read by others: run chmod 600 on it`,
    })
    expect((await configuration({ SECRET_KEY: 'b1946ac92492d2347c6235b4d2611184' })).ok).toBe(true)
  })
})
