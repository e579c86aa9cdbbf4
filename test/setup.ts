/** What is run around every test file: see `vitest.config.ts`. */
import { existsSync, readdirSync } from 'node:fs'
import { afterAll } from 'vitest'

const OPEN = '/proc/self/fd'
/** Collecting takes a fifth of a second: it is done when there is something to give back. */
const OPEN_MANY = 1_000

// libSQL frees a closed database's descriptors when its statements are collected, and an ended worker thread collects nothing:
// the whole suite, which is one process, would hold 17,000 of them. Runs after the file's own hooks, which close what it opened.
afterAll(() => {
  if (!existsSync(OPEN) || readdirSync(OPEN).length > OPEN_MANY) Bun.gc(true)
})
