import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'threads',
    maxWorkers: 2,
    // Files of one worker share what they import: a third of a small file's time is loading the API anew.
    isolate: false,
    setupFiles: 'test/setup.ts',
  },
})
