/** Vendure's server: one process that answers; no worker, as nothing that is measured gives one anything to do. */
const { bootstrap } = require('@vendure/core')
const { config } = require('./vendure-config.cjs')

bootstrap(config).catch((error) => {
  console.error(error)
  process.exit(1)
})
