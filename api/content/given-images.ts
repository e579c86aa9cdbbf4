/** What a request gives as images, taken in with it as far as that goes quickly; a job does the rest. */
import type { Db } from '../../db/driver.ts'
import { enqueue } from '../jobs/queue.ts'
import { Resource, type Call, type Route } from '../http/route.ts'
import { ownerOf } from '../http/auth.ts'
import { intakeOf, type Taken } from './intake.ts'
import { listed, IMAGE_FIELDS, replaced, type Addresses, type ImageEntity } from './image-fields.ts'
import { noteUses } from './usage.ts'

/** The job that takes in what was left; its subject is `{entity}/{id}`. */
export const TAKE_IN = 'images.take-in'

/** So long a request waits for images, and only for those of at most so many bytes. */
const WAIT_MS = 2_000
const AT_ONCE_BYTES = 5 * 1_048_576

type Body = Record<string, unknown>
type GivenCall = Call<unknown, Body>

/** The resource, whose images are taken in: what its POST and PATCH routes get are addresses in the library, where that was possible. */
export function takingImages(entity: ImageEntity, resource: Resource): Resource {
  const { field } = IMAGE_FIELDS[entity]
  const taking = new Resource(resource.room, resource.prefix)
  for (const route of resource.routes) taking.routes.push(takes(route, field) ? { ...route, ...overridden(route, entity) } : route)
  return taking
}

const takes = ({ method, options: { body } }: Route, field: string) =>
  (method === 'POST' || method === 'PATCH') && field in (body?.properties ?? {})

function overridden(route: Route, entity: ImageEntity): Pick<Route, 'options' | 'handler'> {
  const { field } = IMAGE_FIELDS[entity]
  const given = (call: GivenCall) => intakeOf(call.services).foreign(ownerOf(call), listed(call.body[field] as Addresses))

  async function prepare(call: GivenCall): Promise<Taken | undefined> {
    const sources = given(call)
    if (!sources.length) return undefined
    const owner = ownerOf(call)
    const intake = intakeOf(call.services)
    const limits = { maxBytes: AT_ONCE_BYTES, mayWait: false, maxMs: WAIT_MS, until: Date.now() + WAIT_MS }
    const taken = await intake.take(call.db, owner, sources, call.clock.id, limits)
    call.after(({ read }) => intake.drop(read, owner, taken.kept), 'always')
    if (taken.left.length) call.after(async () => call.services.wake.tell(owner))
    return taken
  }

  async function handler(call: GivenCall): Promise<unknown> {
    if (!listed(call.body[field] as Addresses).length) return route.handler(call as never)
    const owner = ownerOf(call)
    const { kept, left } = (call.prepared as Taken | undefined) ?? { kept: [], left: [] }
    const intake = intakeOf(call.services)
    return call.write(async (tx) => {
      const own = await intake.settle(tx, owner, given(call), kept, call.now)
      const addresses = replaced(call.body[field] as Addresses, own)
      const inside = { ...call, body: { ...call.body, [field]: addresses }, write: (fn: (tx: Db) => Promise<unknown>) => fn(tx) }
      const result = await route.handler(inside as never)
      const { id } = result as { id: string }
      await noteUses(tx, owner, entity, id, addresses)
      if (left.length) await enqueue(tx, call, { kind: TAKE_IN, subject: `${entity}/${id}`, dueAt: call.now })
      return result
    })
  }

  return { options: { ...route.options, prepare: prepare as never }, handler: handler as never }
}
