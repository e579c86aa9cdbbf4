import { defineConfig } from 'astro/config'

/** Pages that are made once, at each publish, from the store's data in the folder STOA_DATA. */
export default defineConfig({
  site: process.env.STOA_BASE ?? 'http://localhost:3000',
  trailingSlash: 'never',
  // `/products/mug` is the file products/mug.html.
  build: { format: 'file' },
  cacheDir: './.cache/astro',
  vite: { cacheDir: './.cache/vite', build: { assetsInlineLimit: 0 } },
  devToolbar: { enabled: false },
})
