/** What is run around every test file: see `vitest.config.ts`. */
import { afterAll } from 'vitest'

// libSQL frees a closed database's descriptors when its statements are collected, and an ended worker thread collects nothing:
// the whole suite, which is one process, would hold 17,000 of them. Runs after the file's own hooks, which close what it opened.
afterAll(() => Bun.gc(true))
