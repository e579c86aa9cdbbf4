/** A copy of the project in a folder of its own, whose site can be built. */
import { cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = new URL('../..', import.meta.url).pathname
const COPIED = ['api', 'content', 'db', 'scripts', 'site', 'astro.config.mjs', 'package.json', 'tsconfig.json']

/** Copies what a build of the site is made from; the packages are those that are installed here. */
export function copyProject(folder: string) {
  for (const name of COPIED) cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
}
