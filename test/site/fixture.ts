/** Small contents, made for one test each. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { ContentError, readContent } from '../../site/lib/content.ts'
import { folderFor } from '../folder.ts'

export const SUMMARY = 'A page that is there so that what is wrong with it can be found.'
export const page = (body: string, fields: Record<string, string> = {}) =>
  `---\n${Object.entries({ title: 'A page', summary: SUMMARY, updated: '2026-01-02', ...fields })
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')}\n---\n\n${body}\n`

const folders: string[] = []
export function removeFolders() {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
}

/** The content of a project with these files: those below docs/start are listed in the navigation, unless told otherwise. */
export function contentOf(files: Record<string, string>, listed?: string[]) {
  const root = folderFor('content')
  folders.push(root)
  const slugs = Object.keys(files).flatMap((name) => /^docs\/start\/(.+)\.md$/.exec(name)?.[1] ?? [])
  const navigation = { docs: [{ section: 'start', title: 'Start', pages: listed ?? slugs }], help: [] }
  for (const [name, text] of Object.entries({ ...files, 'navigation.json': JSON.stringify(navigation) })) {
    mkdirSync(dirname(join(root, 'content', name)), { recursive: true })
    writeFileSync(join(root, 'content', name), text)
  }
  return readContent(root)
}

/** What is wrong with a project of these files. */
export function problemsOf(files: Record<string, string>, listed?: string[]): readonly string[] {
  try {
    contentOf(files, listed)
    return []
  } catch (error) {
    expect(error).toBeInstanceOf(ContentError)
    return (error as ContentError).problems
  }
}
