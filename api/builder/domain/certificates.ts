/**
 * `GET /internal/tls?domain=…`: whether a proxy may get a certificate for a host (document 7, Custom domain). Caddy asks so before it
 * does, or anybody could have it ask for any number of names.
 */
import { and, eq, isNotNull } from 'drizzle-orm'
import { deployments, projects, stores } from '../../../db/control/tables.ts'
import { compile, named } from '../../../db/driver.ts'
import type { Surroundings } from '../../http/surroundings.ts'
import type { Services } from '../../outside/services.ts'
import { isLoopback } from '../../server/client-address.ts'
import { portless } from './check.ts'
import { storeOfDomain } from './claims.ts'

const PATH = '/internal/tls'
/** What a proxy adds to a request that it passes on: then whoever asks is not the proxy. */
const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'cf-connecting-ip']
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

const liveBySlug = compile((db) =>
  db
    .select({ id: stores.id })
    .from(stores)
    .innerJoin(projects, eq(projects.storeId, stores.id))
    .where(and(eq(stores.slug, named('label')), isNotNull(projects.liveId))),
)
const openDeployment = compile((db) =>
  db
    .select({ id: deployments.id })
    .from(deployments)
    .where(and(eq(deployments.id, named('label')), eq(deployments.closed, false))),
)

/** Whether a host serves something of ours: a verified domain, a store's own host once it is published, a deployment that is open. */
async function isServed({ registry, storefronts }: Pick<Services, 'registry' | 'storefronts'>, host: string): Promise<boolean> {
  if (await storeOfDomain(registry, host)) return true
  const parent = `.${portless(storefronts.place.domain)}`
  if (!host.endsWith(parent)) return false
  const label = host.slice(0, -parent.length)
  const { read } = registry.control
  return !!((await liveBySlug.get(read, { label })) ?? (await openDeployment.get(read, { label })))
}

/** Whether a request comes from this machine, and was not passed on for somebody else. */
const isFromHere = (request: Request, { visitors }: Pick<Surroundings, 'visitors'>) =>
  visitors !== null &&
  isLoopback(visitors.clientOf(request)) &&
  LOOPBACK_HOST.test(new URL(request.url).hostname) &&
  !FORWARDED.some((name) => request.headers.has(name))

/** Answers 200 for a host that may have a certificate; null for any other host, and for whoever else asks: they get what an unknown path gets. */
export async function certificates(
  path: string,
  request: Request,
  app: Pick<Surroundings, 'services' | 'visitors'>,
): Promise<Response | null> {
  if (path !== PATH || request.method !== 'GET' || !isFromHere(request, app)) return null
  const asked = new URL(request.url).searchParams.getAll('domain')
  const isRight = asked.length === 1 && asked[0]!.length <= 253 && (await isServed(app.services, asked[0]!.toLowerCase()))
  return isRight ? Response.json({ ok: true }, { headers: { 'cache-control': 'no-store' } }) : null
}
