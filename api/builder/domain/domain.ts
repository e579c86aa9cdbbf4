/** `/domain`: the custom domain of an AI-built store (documents 2 and 7). */
import type { Session } from '../../../db/control/registry.ts'
import { DOMAIN_STATUSES } from '../../../db/control/tables.ts'
import { resource } from '../../http/route.ts'
import { Body, Line, Named, Nullable, OneOf, Type, type Static } from '../../http/schema.ts'
import type { Services } from '../../outside/services.ts'
import type { Log } from '../../server/log.ts'
import { conflict, Refusal, wrong } from '../../values/refusal.ts'
import { proofOf } from '../../store/email-domain.ts'
import { checkDomain, isShown, portless, recordsFor, type Check } from './check.ts'
import { attach, detach, domainOf, isClaimedElsewhere, noteCheck, putBack, rivalToken, type Attached, type DomainRow } from './claims.ts'

const SCOPE = 'store:admin'

const Domain = Named('Domain', {
  domain: Nullable(Type.String(), { description: 'As DNS has it: lowercase, punycode' }),
  status: OneOf(['No Domain', ...DOMAIN_STATUSES], { examples: ['Pending Verification'] }),
  verified: Type.Boolean({ description: 'It was proven to be yours; stays so when its record is lost' }),
  dns: Nullable(
    Type.Object({
      record: Type.Object(
        {
          type: OneOf(['A', 'AAAA', 'CNAME'], { examples: ['CNAME'] }),
          name: Type.String({ examples: ['shop'], description: '`@` for the registrable domain itself' }),
          value: Type.String({ examples: ['atelier-nord.shops.example'] }),
        },
        { description: 'Leads visitors to the store' },
      ),
      verification: Type.Array(
        Type.Object({
          type: OneOf(['TXT']),
          domain: Type.String({ examples: ['_stoa.shop.example.com'] }),
          value: Type.String({ examples: ['stoa-verification=c3RvYQ'] }),
        }),
        { description: 'Prove that the domain is yours; empty once it is verified' },
      ),
    }),
    { description: 'The records to set; null without a domain' },
  ),
})
const DomainInput = Body('DomainInput', [{ domain: 'shop.example.com' }], {
  domain: Line(1, 253, { description: 'A host: an apex domain or a subdomain, without protocol, port or path' }),
})
const Detached = Named('DomainDeleted', { ok: Type.Literal(true), domain: Type.Null() })

/** Domains lead to what is published: the project of a store that a site builder made. The sandbox has none. */
const hasProject = ({ store, environment }: Session) => store.aiBuilt && environment === 'live'

/** The domain of the calling store, if it may have one. */
const domainOfCaller = ({ session, services, now }: { session: Session; services: Services; now: string }) =>
  hasProject(session) ? domainOf(services.registry, session.store.id, now) : null

async function view(services: Services, row: DomainRow | null): Promise<Static<typeof Domain>> {
  if (!row) return { domain: null, status: 'No Domain', verified: false, dns: null }
  const { record, proof } = await recordsFor(services, row)
  const isVerified = row.verifiedAt !== null
  const verification = isVerified ? [] : [{ type: proof.type, domain: proof.name, value: proof.value }]
  return { domain: row.domain, status: row.status, verified: isVerified, dns: { record, verification } }
}

/** The domain that a request names; 400 that says what is wrong with it. */
async function domainIn(text: string, { place }: Services['storefronts']): Promise<string> {
  // The list of public suffixes is long, and few stores have domains of their own.
  const { customDomain } = await import('./custom-domain.ts')
  const others = [place.apiUrl, place.contentUrl].map((url) => new URL(url).hostname)
  const read = customDomain(text, { parent: portless(place.domain), others })
  if ('mistake' in read) throw wrong('domain', read.mistake)
  return read.domain
}

/**
 * Whether a store has shown that a domain is its own which another one has claimed and shown nothing for; false where none has. 409 with the
 * record that would show it, where that does not stand in DNS.
 */
async function outbids(services: Services, of: { storeId: string; domain: string; now: string }): Promise<boolean> {
  if (!(await isClaimedElsewhere(services.registry, of))) return false
  const token = rivalToken(of.storeId, of.domain)
  if (await isShown(services, of.domain, token)) return true
  const { type, name, value } = proofOf(of.domain, token)
  throw conflict('this domain is in use, or pending, on another project', {
    hint: 'Nobody has shown yet that it is theirs. If it is yours, set this record in its DNS, and connect it again',
    verification: [{ type, domain: name, value }],
  })
}

/** Claims a domain; 502 when the registry, which all processes and the proxy go by, can't be written. */
async function attached(services: Services, log: Log, claim: Parameters<typeof attach>[1]): Promise<Attached | null> {
  try {
    return await attach(services.registry, claim)
  } catch (error) {
    if (error instanceof Refusal) throw error
    log.write('warn', 'a domain could not be attached', { storeId: claim.storeId, domain: claim.domain, error: String(error) })
    throw new Refusal(502, 'the domain could not be attached: nothing was changed, try again', {}, { 'retry-after': '5' })
  }
}

export const domainRoutes = resource('builder', '/domain')
  .get(
    '',
    {
      operationId: 'getDomain',
      summary: 'Read the custom domain',
      description: 'As the last check has found it. `No Domain` for a store that no site builder made, and for its sandbox.',
      scope: SCOPE,
      responses: { 200: Domain },
    },
    async (call) => view(call.services, await domainOfCaller(call)),
  )
  .post(
    '',
    {
      operationId: 'attachDomain',
      summary: 'Connect a custom domain',
      description:
        'The answer has the DNS records to set. Another domain of the store is detached first; the same one again changes nothing. It is kept for the store from now on, for seven days unless it is verified. 409 when it is in use or pending on another project: of a pending one with the `verification` by which its owner gets it.',
      scope: SCOPE,
      body: DomainInput,
      responses: { 200: Domain },
      refuses: [502],
      async prepare({ body, session, services, now }) {
        if (!hasProject(session)) throw new Refusal(400, 'this store has no builder project: a domain leads to what a site builder made')
        const domain = await domainIn(body.domain, services.storefronts)
        const storeId = session.store.id
        return { storeId, domain, isShown: await outbids(services, { storeId, domain, now }) }
      },
    },
    async (call) => {
      const { session, services, clock, now, log } = call
      const claim = call.prepared as { storeId: string; domain: string; isShown: boolean }
      return call.write(async () => {
        const made = await attached(services, log, { ...claim, token: clock.secret(), now })
        if (made) call.undo(() => putBack(services.registry, made))
        return view(services, await domainOf(services.registry, session.store.id, now))
      })
    },
  )
  .post(
    '/verify',
    {
      operationId: 'verifyDomain',
      summary: "Check the custom domain's DNS records",
      description:
        'Asks DNS now, for 5 s at most, and answers 200 whatever it finds: `status` says it. A domain that is verified stays so, also when its record is lost.',
      scope: SCOPE,
      responses: { 200: Domain },
      async prepare(call) {
        const row = await domainOfCaller(call)
        if (!row) throw new Refusal(400, 'no domain is connected: POST /domain first')
        return { row, check: await checkDomain(call.services, row) }
      },
    },
    async (call) => {
      const { row, check } = call.prepared as { row: DomainRow; check: Check }
      return call.write(async () => {
        await noteCheck(call.services.registry, row, check.status, call.now)
        return view(call.services, await domainOfCaller(call))
      })
    },
  )
  .delete(
    '',
    {
      operationId: 'detachDomain',
      summary: 'Disconnect the custom domain',
      description: 'It stops to serve the store at once, and anybody may connect it. The same answer when there was none.',
      scope: SCOPE,
      responses: { 200: Detached },
    },
    ({ session, services, write, undo }) =>
      write(async () => {
        const former = session.environment === 'live' ? await detach(services.registry, session.store.id) : null
        if (former) undo(() => putBack(services.registry, { former }))
        return { ok: true as const, domain: null }
      }),
  )
