/** Medusa without its admin pages, on PostgreSQL at `DATABASE_URL`; `CACHED=1` adds the cache in memory that it has behind a feature flag. */
const { defineConfig } = require('@medusajs/framework/utils')

module.exports = defineConfig({
  admin: { disable: true },
  projectConfig: {
    databaseUrl: process.env.DATABASE_URL,
    databaseDriverOptions: { connection: { ssl: false } },
    databaseLogging: false,
    http: {
      storeCors: 'http://127.0.0.1',
      adminCors: 'http://127.0.0.1',
      authCors: 'http://127.0.0.1',
      jwtSecret: process.env.SECRET,
      cookieSecret: process.env.SECRET,
    },
  },
  ...(process.env.CACHED === '1'
    ? { featureFlags: { caching: true }, modules: [{ resolve: '@medusajs/medusa/caching', options: { in_memory: { enable: true } } }] }
    : {}),
})
