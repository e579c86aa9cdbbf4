import { describe, expect, test } from 'vitest'
import { ConfigError, readConfig, urlOf } from '../api/server/config.ts'

const refusal = (env: Record<string, string>) => {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  throw new Error(`${JSON.stringify(env)} was taken`)
}

describe('configuration', () => {
  test('an empty environment gives the defaults of document 4', () => {
    expect(readConfig({})).toEqual({
      host: '127.0.0.1',
      apiPort: 3000,
      sitePort: 4000,
      baseUrl: null,
      contentBaseUrl: null,
      dataDir: `${process.cwd()}/data`,
      database: { url: `file:${process.cwd()}/data/{name}.db` },
      workers: 1,
      rate: { perSecond: 100, burst: 200 },
      trustProxy: [],
      smtpUrl: null,
      stripe: { secretKey: null, publishableKey: null, webhookSecret: null, apiBase: null },
      carriers: { carrier_a: { live: null, test: null }, carrier_b: { live: null, test: null } },
      secretKey: null,
      secretKeysOld: [],
      dnsServers: [],
      fetchAllow: [],
      pagespeed: null,
      storesDomain: null,
      storesIp: '127.0.0.1',
      buildTimeout: 600,
      buildsTrusted: false,
      chromiumNoSandbox: false,
      s3: null,
      log: 'info',
      metrics: false,
    })
  })

  test('every variable can be set', () => {
    expect(
      readConfig({
        HOST: '::1',
        API_PORT: '0',
        SITE_PORT: '8080',
        BASE_URL: 'https://api.shop.example/',
        CONTENT_BASE_URL: 'https://stoa.example',
        DATA_DIR: '/srv/stoa',
        DATABASE_URL: 'http://{name}.db.example:8080',
        DATABASE_ADMIN_URL: 'http://127.0.0.1:9090',
        DATABASE_AUTH_TOKEN: 'ey.J',
        WORKERS: '4',
        RATE_LIMIT: '2.5:5',
        TRUST_PROXY: '10.0.0.0/8, ::1, 192.0.2.7',
        SMTP_URL: 'smtps://u:p@mail.example',
        STRIPE_SECRET_KEY: 'sk_test_1',
        STRIPE_PUBLISHABLE_KEY: 'pk_test_1',
        STRIPE_WEBHOOK_SECRET: 'whsec_1',
        STRIPE_API_BASE: 'http://127.0.0.1:12111',
        PAGESPEED_URL: 'https://www.googleapis.com/pagespeedonline/v5/runPagespeed',
        PAGESPEED_KEY: 'AIza-1',
        STORES_DOMAIN: 'Shops.example:8443',
        STORES_IP: '203.0.113.10',
        BUILD_TIMEOUT: '60',
        BUILDS_TRUSTED: '1',
        CHROMIUM_NO_SANDBOX: '1',
        S3_ENDPOINT: 'https://s3.eu-central-1.amazonaws.com/',
        S3_BUCKET: 'shop-files',
        S3_ACCESS_KEY_ID: 'AKIA1',
        S3_SECRET_ACCESS_KEY: 'a+b/c=',
        FETCH_ALLOW: '127.0.0.1:8080, Intranet.example:443,[::1]:80',
        CARRIER_A_LIVE_URL: 'https://a.example/api/',
        CARRIER_A_TEST_URL: 'https://test.a.example',
        CARRIER_B_LIVE_URL: 'https://b.example',
        CARRIER_B_TEST_URL: 'http://127.0.0.1:9000',
        SECRET_KEY: 'b1946ac92492d2347c6235b4d2611184',
        SECRET_KEY_OLD: '591785b794601e212b260e25925636fd 7d793037a0760186574b0282f2f435e7',
        DNS_SERVERS: '1.1.1.1,127.0.0.1:5353,[::1]:53',
        LOG: 'warn',
        METRICS: '1',
      }),
    ).toEqual({
      host: '::1',
      apiPort: 0,
      sitePort: 8080,
      baseUrl: 'https://api.shop.example',
      contentBaseUrl: 'https://stoa.example',
      dataDir: '/srv/stoa',
      database: { url: 'http://{name}.db.example:8080', adminUrl: 'http://127.0.0.1:9090', authToken: 'ey.J' },
      workers: 4,
      rate: { perSecond: 2.5, burst: 5 },
      trustProxy: ['10.0.0.0/8', '::1', '192.0.2.7'],
      smtpUrl: 'smtps://u:p@mail.example',
      stripe: { secretKey: 'sk_test_1', publishableKey: 'pk_test_1', webhookSecret: 'whsec_1', apiBase: 'http://127.0.0.1:12111' },
      carriers: {
        carrier_a: { live: 'https://a.example/api', test: 'https://test.a.example' },
        carrier_b: { live: 'https://b.example', test: 'http://127.0.0.1:9000' },
      },
      secretKey: 'b1946ac92492d2347c6235b4d2611184',
      secretKeysOld: ['591785b794601e212b260e25925636fd', '7d793037a0760186574b0282f2f435e7'],
      dnsServers: ['1.1.1.1', '127.0.0.1:5353', '[::1]:53'],
      pagespeed: { url: 'https://www.googleapis.com/pagespeedonline/v5/runPagespeed', key: 'AIza-1' },
      storesDomain: 'shops.example:8443',
      storesIp: '203.0.113.10',
      buildTimeout: 60,
      buildsTrusted: true,
      chromiumNoSandbox: true,
      s3: {
        ...{ endpoint: 'https://s3.eu-central-1.amazonaws.com', bucket: 'shop-files' },
        ...{ accessKeyId: 'AKIA1', secretAccessKey: 'a+b/c=' },
      },
      fetchAllow: ['127.0.0.1:8080', 'intranet.example:443', '[::1]:80'],
      log: 'warn',
      metrics: true,
    })
  })

  test('an empty value is the default; RATE_LIMIT=0 is no limit', () => {
    expect(readConfig({ API_PORT: '', LOG: ' ' })).toEqual(readConfig({}))
    expect(readConfig({ RATE_LIMIT: '0' }).rate).toBeNull()
  })

  test.each([
    ['HOST', 'my host'],
    ['HOST', 'http://localhost'],
    ['HOST', '256.1.1.1'],
    ['HOST', '1.2.3'],
    ['API_PORT', 'abc'],
    ['API_PORT', '65536'],
    ['API_PORT', '-1'],
    ['SITE_PORT', '3e3'],
    ['SITE_PORT', '80.5'],
    ['BASE_URL', 'shop.example'],
    ['BASE_URL', 'ftp://shop.example'],
    ['CONTENT_BASE_URL', 'https://stoa.example/?a=1'],
    ['DATABASE_URL', 'file:./data/stoa.db'],
    ['DATABASE_URL', 'postgres://{name}'],
    ['DATABASE_URL', 'http://{name}:port'],
    ['DATABASE_ADMIN_URL', 'localhost:9090'],
    ['WORKERS', '0'],
    ['WORKERS', 'two'],
    ['WORKERS', '129'],
    ['RATE_LIMIT', '100'],
    ['RATE_LIMIT', '0:0'],
    ['RATE_LIMIT', '10:0'],
    ['RATE_LIMIT', '0:10'],
    ['RATE_LIMIT', '-1:5'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['TRUST_PROXY', 'proxy.example'],
    ['STRIPE_API_BASE', 'api.stripe.com'],
    ['CARRIER_A_LIVE_URL', 'a.example'],
    ['CARRIER_A_TEST_URL', 'ftp://a.example'],
    ['CARRIER_B_LIVE_URL', 'https://b.example/?key=1'],
    ['CARRIER_B_TEST_URL', 'https://user@b.example'],
    ['DNS_SERVERS', 'dns.example'],
    ['DNS_SERVERS', '1.1.1.1:70000'],
    ['STORES_DOMAIN', 'https://shops.example'],
    ['STORES_DOMAIN', '127.0.0.1:3000'],
    ['STORES_DOMAIN', 'shops.example:70000'],
    ['STORES_DOMAIN', '*.shops.example'],
    ['STORES_IP', 'shops.example'],
    ['BUILD_TIMEOUT', '0'],
    ['BUILD_TIMEOUT', '9'],
    ['BUILDS_TRUSTED', 'yes'],
    ['CHROMIUM_NO_SANDBOX', 'yes'],
    ['S3_BUCKET', 'Shop_Files'],
    ['FETCH_ALLOW', 'intranet.example'],
    ['FETCH_ALLOW', 'http://intranet.example:80'],
    ['FETCH_ALLOW', 'intranet.example:0'],
    ['FETCH_ALLOW', '127.0.0.1:70000'],
    ['FETCH_ALLOW', 'a b:80'],
    ['LOG', 'verbose'],
    ['METRICS', 'yes'],
  ])('%s=%s is refused in one line that names the variable, the value and what is expected', (name, value) => {
    const message = refusal({ [name]: value })
    expect(message).toMatch(new RegExp(`^${name} is ".+": expected .+$`))
  })

  test.each([
    ['SMTP_URL', 'https://user:hunter2@mail.example'],
    ['STRIPE_SECRET_KEY', 'sk_live_ hunter2'],
    ['STRIPE_WEBHOOK_SECRET', 'whsec\nhunter2'],
    ['S3_ENDPOINT', 'https://user:hunter2@s3.example'],
    ['S3_SECRET_ACCESS_KEY', 'hunter2 hunter2'],
    ['SECRET_KEY', 'hunter2'],
    ['SECRET_KEY_OLD', '591785b794601e212b260e25925636fd hunter2'],
    ['SECRET_KEY', 'hunter2hunter2hunter2hunter2hunter2'],
    ['SECRET_KEY', 'hunter2 is a secret of many different letters'],
    ['DATABASE_AUTH_TOKEN', 'hunter2 hunter2'],
    ['DATABASE_URL', 'mysql://root:hunter2@{name}'],
    ['DATABASE_URL', 'libsql://db.example?authToken=hunter2'],
    ['DATABASE_ADMIN_URL', 'http://admin:hunter2@db.example'],
  ])('a wrong %s does not show the secret', (name, value) => {
    const message = refusal({ [name]: value })
    expect(message).toMatch(new RegExp(`^${name}.*: expected .+$`))
    expect(message).not.toContain('hunter2')
  })

  test('one of the two Stripe secrets alone is refused; a data folder can not pass for a template', () => {
    expect(refusal({ STRIPE_SECRET_KEY: 'sk_test_1' })).toMatch(/^STRIPE_WEBHOOK_SECRET: expected .* since STRIPE_SECRET_KEY is set$/)
    expect(refusal({ STRIPE_WEBHOOK_SECRET: 'whsec_1' })).toMatch(/^STRIPE_SECRET_KEY: expected .* since STRIPE_WEBHOOK_SECRET is set$/)
    expect(refusal({ DATA_DIR: '/srv/{name}/data' })).toBe('DATA_DIR is "/srv/{name}/data": expected a folder without {name} in its path')
  })

  test('an S3 store is given whole, or not at all', () => {
    expect(refusal({ S3_BUCKET: 'shop-files' })).toBe('S3_ENDPOINT: expected a value, since S3_BUCKET is set')
    const env = { S3_ENDPOINT: 'http://127.0.0.1:9000', S3_BUCKET: 'shop-files', S3_ACCESS_KEY_ID: 'a' }
    expect(refusal(env)).toBe('S3_SECRET_ACCESS_KEY: expected a value, since S3_ENDPOINT is set')
  })

  test('public URLs come from host and port unless they are set', () => {
    expect(urlOf(null, '127.0.0.1', 3000)).toBe('http://127.0.0.1:3000')
    expect(urlOf(null, '::1', 3000)).toBe('http://[::1]:3000')
    expect(urlOf(null, '0.0.0.0', 3000)).toBe('http://localhost:3000')
    expect(urlOf('https://shop.example', '0.0.0.0', 3000)).toBe('https://shop.example')
  })
})
