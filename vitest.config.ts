import { defineConfig } from 'vitest/config'

const common = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  pool: 'threads',
  setupFiles: 'test/setup.ts',
  // Files of one worker share what they import: a third of a small file's time is loading the API anew.
  isolate: false,
} as const

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...common,
          name: 'suite',
          include: ['test/**/*.test.ts'],
          exclude: ['test/alone/**'],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      // What a stranger's clock shows: nothing else runs beside it.
      { test: { ...common, name: 'alone', include: ['test/alone/**/*.test.ts'], maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
})
