import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { ownName } from '../../db/leftovers.ts'
import { copyProject } from '../../scripts/bench/copy.ts'
import { folderFor } from '../folder.ts'

const folder = folderFor('build')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('a build that fails says at which page, and leaves nothing; what a killed one has left goes with the next', async () => {
  copyProject(folder)
  mkdirSync(join(folder, 'dist'))
  writeFileSync(join(folder, 'dist/manifest.json'), '{}')
  const gone = Bun.spawn(['true'])
  await gone.exited
  // A build that is at work keeps what it has.
  const atWork = ownName(join(folder, 'dist/site'), 'new')
  mkdirSync(atWork)
  for (const name of ['pages', 'site', 'old', 'search.db'])
    mkdirSync(ownName(join(folder, 'dist', name), 'new').replace(`-${process.pid}`, `-${gone.pid}`))

  const article = join(folder, 'site/layouts/Article.astro')
  const broken = `if (page.slug === 'taxes') throw new Error('on purpose')\nconst crumbs =`
  writeFileSync(article, readFileSync(article, 'utf8').replace('const crumbs =', broken))
  const { PATH, HOME } = process.env
  const failed = Bun.spawn([process.execPath, 'scripts/build.ts'], { cwd: folder, env: { PATH, HOME }, stdout: 'ignore', stderr: 'pipe' })
  const said = await new Response(failed.stderr).text()
  expect(await failed.exited).toBe(1)
  expect(said).toMatch(/^the content site can't be built, at \/help\/payments\/taxes\.html:\non purpose/)
  expect(readdirSync(join(folder, 'dist')).toSorted()).toEqual(['manifest.json', basename(atWork)])
}, 60_000)
