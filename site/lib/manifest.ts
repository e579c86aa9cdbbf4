/** What a build of the content site is: its files, and which of them are the forms of a page. */
import type { Entry } from '../../api/hosting/manifest.ts'

export interface Manifest {
  /** Where the content site and the store API were to be when this was built, without a slash at the end. */
  base: string
  storeApi: string
  /** By path, as it is asked for. */
  files: Record<string, Entry>
  /** Pages: the keys of their forms in `files`, and their titles. */
  pages: Record<string, { html: string; markdown: string; title: string }>
  /** Of the scripts that stand in pages: what the Content-Security-Policy allows. */
  scripts: string[]
}
