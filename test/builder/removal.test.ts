/** What builds leave goes, however deep it is and whoever may read it. */
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { removeTree } from '../../api/outside/cage/removal.ts'
import { folderFor } from '../folder.ts'

test('a folder of a thousand levels is out of the way at once, and gone without holding anybody up', async () => {
  const folder = folderFor('removal')
  const build = join(folder, 'build')
  // Deeper than a path can be: made from within.
  const made = Bun.spawnSync(['perl', '-e', `mkdir "${build}"; chdir "${build}"; for (1..3000) { mkdir "dddddddddd"; chdir "dddddddddd" }`])
  expect(made.exitCode, made.stderr.toString()).toBe(0)
  let longest = 0
  let last = performance.now()
  const watching = setInterval(() => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }, 1)
  const { gone } = await removeTree(build)
  expect(existsSync(build)).toBe(false)
  await gone
  clearInterval(watching)
  expect(readdirSync(folder)).toEqual([])
  // By Bun itself it takes 20 s of everybody's time.
  expect(longest).toBeLessThan(500)
})

test('a folder that its owner may not read goes as well, and none is no mistake', async () => {
  const folder = folderFor('removal')
  const [build, hidden] = [join(folder, 'build'), join(folder, 'build/hidden')]
  mkdirSync(hidden, { recursive: true })
  writeFileSync(join(hidden, 'a'), 'a')
  chmodSync(hidden, 0o300)
  chmodSync(build, 0)
  await (
    await removeTree(build)
  ).gone
  expect(readdirSync(folder)).toEqual([])
  await (
    await removeTree(build)
  ).gone
})
