/** The outside as a configuration describes it: made once by whatever starts the API, a server or a test. */
import { Bucket } from '../db/bucket.ts'
import type { Registry } from '../db/control/registry.ts'
import { mediaFolder } from '../db/media-files.ts'
import { publicFetch } from './outside/fetch-public.ts'
import { filesIn, filesInBucket, type Files } from './outside/files.ts'
import { MailError, mailersFor, type Mailers } from './outside/mail.ts'
import { publicPosts } from './outside/post-public.ts'
import type { Provider } from './outside/payment-provider.ts'
import { resolverAt } from './outside/resolver.ts'
import { secretsOf } from './server/key-file.ts'
import type { Services } from './outside/services.ts'
import { Storefronts } from './outside/storefronts.ts'
import { Load } from './server/load.ts'
import { Metrics } from './server/metrics.ts'
import { contentUrlOf, storesDomainOf, type Config } from './server/config.ts'
import { realClock } from './values/clock.ts'
import { missing } from './values/refusal.ts'

type ServiceConfig = Pick<
  Config,
  | 'dataDir'
  | 's3'
  | 'secretKey'
  | 'secretKeysOld'
  | 'stripe'
  | 'carriers'
  | 'smtpUrl'
  | 'dnsServers'
  | 'fetchAllow'
  | 'storesDomain'
  | 'storesIp'
  | 'buildTimeout'
  | 'buildsTrusted'
  | 'contentBaseUrl'
  | 'host'
  | 'sitePort'
>

/** Where payments go; Stripe's package is loaded by those alone who use it (it costs 75 ms of the start). */
async function paymentsOf({ secretKey, webhookSecret, apiBase }: Config['stripe']): Promise<Provider | null> {
  return secretKey === null ? null : (await import('./outside/stripe.ts')).stripeProvider({ secretKey, webhookSecret, apiBase })
}

/** Files that are kept for a store which was removed meanwhile are removed again: nobody else would. */
const ofKnown = (files: Files, registry: Registry): Files => ({
  ...files,
  async keep(owner, id, all) {
    await files.keep(owner, id, all)
    if (await registry.store(owner.storeId)) return
    await files.remove(owner, id)
    throw missing('store')
  },
})

interface Where {
  registry: Registry
  baseUrl: string
  port: number
  listensOn?: string | null
  metrics?: Metrics
}

/** Counts what becomes of the mails of a process. */
const counted = (mailers: Mailers, metrics: Metrics): Mailers => ({
  ...mailers,
  async open(environment) {
    const mailer = await mailers.open(environment)
    const count = (outcome: string) => metrics.add('stoa_mails_total', { environment, outcome })
    return {
      async send(mail) {
        try {
          await mailer.send(mail)
        } catch (error) {
          count(error instanceof MailError ? error.outcome : 'unknown')
          throw error
        }
        count('sent')
      },
      close: () => mailer.close(),
    }
  },
})

/** The services of a configuration. `baseUrl` is the public URL of this server, without a slash at the end; `port` is where it listens. */
export const servicesFor = async (
  config: ServiceConfig,
  { registry, baseUrl, port, listensOn = null, metrics = new Metrics() }: Where,
): Promise<Services> => {
  const resolver = resolverAt(config.dnsServers)
  return {
    clock: realClock,
    registry,
    files: ofKnown(config.s3 ? filesInBucket(new Bucket(config.s3), baseUrl) : filesIn(mediaFolder(config.dataDir), baseUrl), registry),
    fetchPublic: publicFetch({ allow: config.fetchAllow, lookup: resolver.addresses }),
    postPublic: publicPosts({ allow: config.fetchAllow, lookup: resolver.addresses }),
    mailers: counted(mailersFor(config, baseUrl), metrics),
    payments: await paymentsOf(config.stripe),
    carriers: config.carriers,
    secrets: secretsOf(config),
    resolver,
    load: new Load(metrics),
    storefronts: new Storefronts({
      dataDir: config.dataDir,
      s3: config.s3,
      domain: storesDomainOf(config, port),
      ip: config.storesIp,
      buildTimeoutMs: config.buildTimeout * 1_000,
      buildsTrusted: config.buildsTrusted,
      apiUrl: baseUrl,
      listensOn,
      stripeKey: config.stripe.publishableKey,
      contentUrl: contentUrlOf(config),
    }),
  }
}
