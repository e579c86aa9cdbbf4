/** The content site alone, for `npm run bench:site`: what `site/server.ts` serves, where it was built for, on `PORT`; `ALLOW` may be analysed. */
import { readConfig } from '../../api/server/config.ts'
import { serveSite } from '../../site/server.ts'

const config = readConfig({
  SITE_PORT: process.env.PORT,
  CONTENT_BASE_URL: process.env.SITE_BASE,
  FETCH_ALLOW: process.env.ALLOW,
  DATA_DIR: process.env.DATA,
  TRUST_PROXY: '127.0.0.1',
  LOG: 'silent',
})
serveSite(config, 'http://127.0.0.1:3000')
console.log('ready')
