import node from '@astrojs/node'
import { defineConfig } from 'astro/config'

/** Prerendered pages of `site/`, from the content of `content/`. What stands in front of them is `site/server.ts`. */
const content = {
  name: 'content',
  hooks: {
    'astro:server:setup': ({ server }) => {
      server.watcher.add('content')
      server.watcher.on('all', (_, path) => path.includes('content/') && server.ws.send({ type: 'full-reload' }))
    },
  },
}

export default defineConfig({
  site: process.env.STOA_SITE ?? 'http://127.0.0.1:4000',
  srcDir: './site',
  publicDir: './site/public',
  outDir: './dist/site',
  cacheDir: './node_modules/.cache/astro',
  trailingSlash: 'never',
  // `/docs/a/b` is the file docs/a/b.html: what static hosts serve without a redirect.
  // Pages are packed while others are rendered: one that has begun says that those before it are whole.
  build: { format: 'file', inlineStylesheets: 'never', concurrency: 1 },
  // Scripts are files of their own, so that they are cached and need no hash in the policy.
  vite: { build: { assetsInlineLimit: 0 } },
  adapter: node({ mode: 'middleware' }),
  integrations: [content],
  devToolbar: { enabled: false },
})
