import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { folderFor } from '../folder.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const folder = folderFor('build')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('a build that fails says at which page, and leaves nothing; what a killed one has left goes with the next', async () => {
  for (const name of ['api', 'content', 'db', 'scripts', 'site', 'astro.config.mjs', 'package.json', 'tsconfig.json'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  mkdirSync(join(folder, 'dist'))
  writeFileSync(join(folder, 'dist/manifest.json'), '{}')
  const gone = Bun.spawn(['true'])
  await gone.exited
  for (const name of ['pages', 'new', 'old', 'search']) mkdirSync(join(folder, `dist/${name}-${gone.pid}`))
  // A build that is at work keeps what it has.
  mkdirSync(join(folder, `dist/new-${process.pid}`))

  const article = join(folder, 'site/layouts/Article.astro')
  const broken = `if (page.slug === 'taxes') throw new Error('on purpose')\nconst crumbs =`
  writeFileSync(article, readFileSync(article, 'utf8').replace('const crumbs =', broken))
  const { PATH, HOME } = process.env
  const failed = Bun.spawn([process.execPath, 'scripts/build.ts'], { cwd: folder, env: { PATH, HOME }, stdout: 'ignore', stderr: 'pipe' })
  const said = await new Response(failed.stderr).text()
  expect(await failed.exited).toBe(1)
  expect(said).toMatch(/^the content site can't be built, at \/help\/payments\/taxes\.html:\non purpose/)
  expect(readdirSync(join(folder, 'dist')).toSorted()).toEqual(['manifest.json', `new-${process.pid}`])
}, 60_000)
