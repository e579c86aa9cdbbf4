/** The configuration of the servers and the command line, read from the environment. */
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import type { BucketPlace } from '../../db/bucket.ts'
import type { Location } from '../../db/open.ts'
import type { Level } from './log.ts'
import type { Rate } from './rate-limit.ts'
import { hostAndPort, isRange, isResolver } from './network-places.ts'
import type { CarrierUrls } from '../outside/carriers.ts'

export interface Config {
  host: string
  /** 0: any free port. */
  apiPort: number
  sitePort: number
  /** Public URLs without a slash at the end; null: made from host and port, see `urlOf`. */
  baseUrl: string | null
  contentBaseUrl: string | null
  /** Absolute. */
  dataDir: string
  database: Location
  /** Where media and deployments are kept instead of the data folder; null: there. */
  s3: BucketPlace | null
  workers: number
  /** Null: no limit. */
  rate: Rate | null
  /** Addresses and CIDR ranges whose `X-Forwarded-For` counts. */
  trustProxy: string[]
  smtpUrl: string | null
  stripe: { secretKey: string | null; publishableKey: string | null; webhookSecret: string | null; apiBase: string | null }
  carriers: CarrierUrls
  /** Null: made once in the data folder. */
  secretKey: string | null
  /** Keys before it, which open what they have sealed. */
  secretKeysOld: string[]
  /** Empty: the system's resolvers. */
  dnsServers: string[]
  /** Where PageSpeed Insights is asked, with its key; null: Lighthouse here. */
  pagespeed: { url: string; key: string | null } | null
  /** Chromium shows strangers' pages without its sandbox, as the server's own user where there is no other. */
  chromiumNoSandbox: boolean
  /** `host:port` pairs that may be fetched from although they are private, in lower case. */
  fetchAllow: string[]
  /** The parent of the stores' own hosts, with its port; null: `localhost` and the port of the API. */
  storesDomain: string | null
  /** What the `A` record of a custom domain has to carry. */
  storesIp: string
  /** Seconds after which the build of a storefront is ended. */
  buildTimeout: number
  /** Projects are built though this machine can't hold what their authors wrote. */
  buildsTrusted: boolean
  log: Level
  metrics: boolean
}

/** A variable that has a wrong value; the message is one line for whoever set it. */
export class ConfigError extends Error {
  constructor(
    readonly variable: string,
    given: string | null,
    expected: string,
  ) {
    super(`${variable}${given === null ? '' : ` is ${shown(given)}`}: expected ${expected}`)
  }
}

/** A value on one line, without what is secret in a URL. */
const shown = (value: string) =>
  JSON.stringify(
    value
      .replace(/\/\/[^/]*@/, '//…@')
      .replace(/\?.*$/s, '?…')
      .slice(0, 200),
  )

export type Environment = Record<string, string | undefined>

/** Processes that share the port; more than any machine has use for. */
const WORKERS_MAX = 128
/** Each is tried on what the ones before it do not open. */
const OLD_SECRETS_MAX = 8
/** Where the content site is when nothing else is said. */
const SITE_PORT_USUAL = 4000

/** Reads the configuration (document 4). Throws `ConfigError` for the first variable that has a wrong value. */
export function readConfig(env: Environment): Config {
  const text = (name: string) => env[name]?.trim() || null
  const dataDir = dataFolder(text('DATA_DIR'))
  return {
    host: host(text('HOST')),
    apiPort: whole('API_PORT', text('API_PORT'), { fallback: 3000, least: 0, most: 65_535 }),
    sitePort: whole('SITE_PORT', text('SITE_PORT'), { fallback: SITE_PORT_USUAL, least: 0, most: 65_535 }),
    baseUrl: webUrl('BASE_URL', text('BASE_URL')),
    contentBaseUrl: webUrl('CONTENT_BASE_URL', text('CONTENT_BASE_URL')),
    dataDir,
    database: database(dataDir, {
      url: text('DATABASE_URL'),
      adminUrl: text('DATABASE_ADMIN_URL'),
      authToken: text('DATABASE_AUTH_TOKEN'),
    }),
    s3: s3Store(text),
    workers: whole('WORKERS', text('WORKERS'), { fallback: 1, least: 1, most: WORKERS_MAX }),
    rate: rate(text('RATE_LIMIT')),
    trustProxy: list(text('TRUST_PROXY')).map((range) =>
      isRange(range) ? range : fail('TRUST_PROXY', range, 'IP addresses or ranges such as 10.0.0.0/8, separated by commas'),
    ),
    smtpUrl: smtpUrl(text('SMTP_URL')),
    stripe: {
      ...stripe(text('STRIPE_SECRET_KEY'), text('STRIPE_WEBHOOK_SECRET'), text('STRIPE_API_BASE')),
      publishableKey: secret('STRIPE_PUBLISHABLE_KEY', text('STRIPE_PUBLISHABLE_KEY')),
    },
    carriers: carrierUrls(text),
    ...secretKeys(text('SECRET_KEY'), text('SECRET_KEY_OLD')),
    dnsServers: list(text('DNS_SERVERS')).map((server) =>
      isResolver(server)
        ? server
        : fail(
            'DNS_SERVERS',
            server,
            'IP addresses, each with an optional port, such as 1.1.1.1 or [2606:4700::1111]:53, separated by commas',
          ),
    ),
    pagespeed: pagespeed(webUrl('PAGESPEED_URL', text('PAGESPEED_URL')), secret('PAGESPEED_KEY', text('PAGESPEED_KEY'))),
    chromiumNoSandbox: oneOf('CHROMIUM_NO_SANDBOX', text('CHROMIUM_NO_SANDBOX') ?? '0', ['0', '1']) === '1',
    fetchAllow: list(text('FETCH_ALLOW')).map(
      (place) =>
        hostAndPort(place) ??
        fail('FETCH_ALLOW', place, 'hosts, each with its port, such as 127.0.0.1:8080 or intranet.example:443, separated by commas'),
    ),
    storesDomain: storesDomain(text('STORES_DOMAIN')),
    storesIp: ipAddress('STORES_IP', text('STORES_IP') ?? '127.0.0.1'),
    buildTimeout: whole('BUILD_TIMEOUT', text('BUILD_TIMEOUT'), { fallback: 600, least: 10, most: 86_400 }),
    buildsTrusted: oneOf('BUILDS_TRUSTED', text('BUILDS_TRUSTED') ?? '0', ['0', '1']) === '1',
    log: oneOf('LOG', text('LOG') ?? 'info', ['debug', 'info', 'warn', 'silent']),
    metrics: oneOf('METRICS', text('METRICS') ?? '0', ['0', '1']) === '1',
  }
}

/** The public URL of a server: the one that is configured, or the one that host and port make. */
export function urlOf(configured: string | null, host: string, port: number): string {
  if (configured) return configured
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `http://${isIP(reachable) === 6 ? `[${reachable}]` : reachable}:${port}`
}

/** Where the content site is: on its usual port when it is to take a free one, which nobody knows before. */
export const contentUrlOf = ({ contentBaseUrl, host, sitePort }: Pick<Config, 'contentBaseUrl' | 'host' | 'sitePort'>) =>
  urlOf(contentBaseUrl, host, sitePort || SITE_PORT_USUAL)

/** The parent of the stores' own hosts: below `localhost`, which browsers find on this machine, when nothing else is said. */
export const storesDomainOf = ({ storesDomain }: Pick<Config, 'storesDomain'>, port: number) => storesDomain ?? `localhost:${port}`

/** A server's public URL for the terminal; beside it where it listens, when that is elsewhere: behind a proxy, or on a free port. */
export function printed(url: string, listensOn: string, path = ''): string {
  return url === listensOn ? `${url}${path}` : `${url}${path}  (listening on ${listensOn})`
}

function fail(variable: string, given: string | null, expected: string): never {
  throw new ConfigError(variable, given, expected)
}

const list = (value: string | null) =>
  (value ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)

function oneOf<const T extends string>(name: string, value: string, words: readonly T[]): T {
  return (words as readonly string[]).includes(value)
    ? (value as T)
    : fail(name, value, words.slice(0, -1).join(', ') + ` or ${words.at(-1)}`)
}

function whole(name: string, value: string | null, { fallback, least, most }: { fallback: number; least: number; most: number }): number {
  if (value === null) return fallback
  const number = /^\d{1,9}$/.test(value) ? Number(value) : NaN
  return number >= least && number <= most ? number : fail(name, value, `a whole number from ${least} to ${most}`)
}

/** A folder whose name could be taken for the template of `DATABASE_URL` would have databases elsewhere. */
function dataFolder(value: string | null): string {
  const folder = resolve(value ?? './data')
  return folder.includes('{name}') ? fail('DATA_DIR', folder, 'a folder without {name} in its path') : folder
}

function host(value: string | null): string {
  if (value === null) return '127.0.0.1'
  const bare = value.replace(/^\[(.*)\]$/, '$1')
  // A name whose last part is a number would be an address (WHATWG URL, "ends in a number"): 256.1.1.1 is neither.
  return isIP(bare) || (/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(bare) && !/(^|\.)\d+$/.test(bare))
    ? bare
    : fail('HOST', value, 'an IP address or a host name, such as 127.0.0.1 or 0.0.0.0')
}

/** A host name, with a port perhaps, below which each store has a host of its own. */
function storesDomain(value: string | null): string | null {
  if (value === null) return null
  const [, name = '', port] = /^([a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::(\d{1,5}))?$/i.exec(value) ?? []
  const isName = name.length <= 180 && name.split('.').every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i.test(label)) && !isIP(name)
  return isName && (port === undefined || Number(port) <= 65_535)
    ? value.toLowerCase()
    : fail('STORES_DOMAIN', value, 'a host name with an optional port, such as shops.example or localhost:3000')
}

const ipAddress = (name: string, value: string) => (isIP(value) ? value : fail(name, value, 'an IP address, such as 203.0.113.10'))

function parsed(value: string): URL | null {
  return URL.canParse(value) ? new URL(value) : null
}

function webUrl(name: string, value: string | null): string | null {
  if (value === null) return null
  const url = parsed(value)
  const isWeb = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash
  return isWeb
    ? value.replace(/(?<!\/)\/+$/, '')
    : fail(name, value, 'an http or https URL without user, query and fragment, such as https://shop.example')
}

function smtpUrl(value: string | null): string | null {
  if (value === null) return null
  const url = parsed(value)
  return url && /^smtps?:$/.test(url.protocol) && url.hostname
    ? value
    : fail('SMTP_URL', null, 'a URL such as smtp://user:password@mail.example:587 or smtps://…')
}

/** A secret is taken as it is; one with spaces or line breaks was not pasted whole. */
function secret(name: string, value: string | null): string | null {
  return value === null || /^[\x21-\x7e]+$/.test(value) ? value : fail(name, null, 'a secret without spaces or line breaks')
}

/** Both secrets or none: without the second one no payment would ever be confirmed. */
function stripe(secretKey: string | null, webhookSecret: string | null, apiBase: string | null): Omit<Config['stripe'], 'publishableKey'> {
  secret('STRIPE_SECRET_KEY', secretKey)
  secret('STRIPE_WEBHOOK_SECRET', webhookSecret)
  if (secretKey && !webhookSecret) fail('STRIPE_WEBHOOK_SECRET', null, 'the signing secret of the webhook, since STRIPE_SECRET_KEY is set')
  if (webhookSecret && !secretKey) fail('STRIPE_SECRET_KEY', null, 'a secret key, since STRIPE_WEBHOOK_SECRET is set')
  return { secretKey, webhookSecret, apiBase: webUrl('STRIPE_API_BASE', apiBase) }
}

const bucketName = (name: string, value: string | null) =>
  value === null || /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(value)
    ? value
    : fail(name, value, 'the name of a bucket: 3 to 63 lowercase letters, digits, dots and hyphens')

/** All four or none: with some of them files would be nowhere. */
function s3Store(text: (name: string) => string | null): BucketPlace | null {
  const all = {
    S3_ENDPOINT: webUrl('S3_ENDPOINT', text('S3_ENDPOINT')),
    S3_BUCKET: bucketName('S3_BUCKET', text('S3_BUCKET')),
    S3_ACCESS_KEY_ID: secret('S3_ACCESS_KEY_ID', text('S3_ACCESS_KEY_ID')),
    S3_SECRET_ACCESS_KEY: secret('S3_SECRET_ACCESS_KEY', text('S3_SECRET_ACCESS_KEY')),
  }
  const given = Object.entries(all).find(([, value]) => value !== null)
  if (!given) return null
  const missing = Object.entries(all).find(([, value]) => value === null)
  if (missing) fail(missing[0], null, `a value, since ${given[0]} is set`)
  const { S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = all as Record<keyof typeof all, string>
  return { endpoint: S3_ENDPOINT, bucket: S3_BUCKET, accessKeyId: S3_ACCESS_KEY_ID, secretAccessKey: S3_SECRET_ACCESS_KEY }
}

/** Where the carriers are asked, each in both environments. */
const carrierUrls = (text: (name: string) => string | null): CarrierUrls => ({
  carrier_a: {
    live: webUrl('CARRIER_A_LIVE_URL', text('CARRIER_A_LIVE_URL')),
    test: webUrl('CARRIER_A_TEST_URL', text('CARRIER_A_TEST_URL')),
  },
  carrier_b: {
    live: webUrl('CARRIER_B_LIVE_URL', text('CARRIER_B_LIVE_URL')),
    test: webUrl('CARRIER_B_TEST_URL', text('CARRIER_B_TEST_URL')),
  },
})

/** A key without a service to ask would be of no use. */
function pagespeed(url: string | null, key: string | null): Config['pagespeed'] {
  if (key && !url)
    fail(
      'PAGESPEED_URL',
      null,
      'https://www.googleapis.com/pagespeedonline/v5/runPagespeed or another endpoint, since PAGESPEED_KEY is set',
    )
  return url ? { url, key } : null
}

/** A secret that a key is made from: too long to be guessed, and no few characters over and over. */
function strongSecret(name: string, value: string | null): string | null {
  return secret(name, value) === null || (value!.length >= 32 && new Set(value).size >= 10)
    ? value
    : fail(name, null, 'at least 32 random characters, such as openssl rand -hex 32 prints')
}

/** The key that seals, and those before it: a secret has no spaces in it, so these stand between several. */
function secretKeys(key: string | null, old: string | null): Pick<Config, 'secretKey' | 'secretKeysOld'> {
  const all = (old ?? '').split(/\s+/).filter(Boolean)
  if (all.length > OLD_SECRETS_MAX) fail('SECRET_KEY_OLD', null, `at most ${OLD_SECRETS_MAX} keys, separated by spaces`)
  return { secretKey: strongSecret('SECRET_KEY', key), secretKeysOld: all.map((each) => strongSecret('SECRET_KEY_OLD', each)!) }
}

function rate(value: string | null): Rate | null {
  if (value === '0') return null
  const [, perSecond, burst] = /^(\d{1,7}(?:\.\d{1,3})?):(\d{1,7})$/.exec(value ?? '100:200') ?? []
  if (!(Number(perSecond) > 0 && Number(burst) >= 1))
    fail('RATE_LIMIT', value, 'requests per second and burst, such as 100:200, or 0 for no limit')
  return { perSecond: Number(perSecond), burst: Number(burst) }
}

/** Where the databases are: files under the data folder, or what the template `DATABASE_URL` says. */
function database(dataDir: string, given: { url: string | null; adminUrl: string | null; authToken: string | null }): Location {
  const location: Location = { url: given.url ?? `file:${dataDir}/{name}.db` }
  if (!/^(file:.|https?:\/\/.|libsql:\/\/.)/.test(location.url) || !location.url.includes('{name}')) {
    fail('DATABASE_URL', given.url, 'a URL with {name} in it, such as file:./data/{name}.db or http://{name}.db.example:8080')
  }
  if (!location.url.startsWith('file:') && !URL.canParse(location.url.replaceAll('{name}', 'name')))
    fail('DATABASE_URL', given.url, 'a URL that is valid once {name} is filled in')
  const adminUrl = webUrl('DATABASE_ADMIN_URL', given.adminUrl)
  const authToken = secret('DATABASE_AUTH_TOKEN', given.authToken)
  return { ...location, ...(adminUrl ? { adminUrl } : {}), ...(authToken ? { authToken } : {}) }
}
