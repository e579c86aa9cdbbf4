/** The build of the content site, as far as one needs to know of it who does not build: where it is, and whether it is up to date. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = new URL('..', import.meta.url).pathname
export const DIST = join(ROOT, 'dist')
/** What a build is made from. */
const SOURCES = ['content', 'site', 'api', 'astro.config.mjs', 'package.json', 'scripts/build.ts']

/** When the newest of the files below a path was changed. */
function newest(path: string): number {
  const entry = statSync(path)
  if (!entry.isDirectory()) return entry.mtimeMs
  return Math.max(entry.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))))
}

/** Whether there is a build, and nothing that it was made from has changed since. */
export function isBuilt(): boolean {
  const manifest = join(DIST, 'manifest.json')
  if (!existsSync(manifest)) return false
  const built = statSync(manifest).mtimeMs
  return SOURCES.every((source) => newest(join(ROOT, source)) <= built)
}
