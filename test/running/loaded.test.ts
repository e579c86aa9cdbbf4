/** What a start loads: each package costs every start its time and every process its memory, whether its stores use it or not. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderOnDisk } from '../folder.ts'

/** Packages that are needed to answer at all, and what these bring along. Before one is added here: is it needed before it is used? */
const NEEDED = [
  '@libsql',
  '@neon-rs/load',
  '@sinclair/typebox',
  'any-ascii',
  'cookie',
  'detect-libc',
  'drizzle-orm',
  'elysia',
  'exact-mirror',
  'fast-decode-uri-component',
  'fractional-indexing',
  'github-slugger',
  'ipaddr.js',
  'libsql',
  'memoirist',
]

test('a server that is ready has loaded what it needs to answer, and nothing that is loaded at its first use', async () => {
  const folder = folderOnDisk('loaded')
  try {
    const { PATH } = process.env
    const child = Bun.spawn([process.execPath, join(import.meta.dirname, 'loaded-child.ts')], {
      env: { PATH, DATA_DIR: folder, API_PORT: '0', LOG: 'silent' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const packages = JSON.parse(await new Response(child.stdout).text()) as string[]
    expect(await child.exited).toBe(0)
    // The engine of the databases has a package for each kind of machine.
    expect(packages.map((name) => name.replace(/^@libsql\/.*/, '@libsql'))).toEqual(NEEDED)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
