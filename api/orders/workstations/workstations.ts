/** Workstations (document 1): where orders are packed, and the rules that send them there. */
import { takesOrders } from './workstation.ts'
import { asc, eq, inArray, sql } from 'drizzle-orm'
import type { Db, Reader } from '../../../db/driver.ts'
import { WORKSTATION_TYPES, workstationRules, workstations } from '../../../db/store/workstations.ts'
import { teamMembers } from '../../../db/store/store.ts'
import { conflict, missing } from '../../values/refusal.ts'
import { resource } from '../../http/route.ts'
import { Body, Label, Named, OneOf, Type, Uuid } from '../../http/schema.ts'
import { abandon, assignUndecided, release, waitingCount } from './packing.ts'
import { forget, lower, readRules, Rule, RulesInput, rulesOf } from './rules.ts'

/** The list is given whole. */
const WORKSTATIONS_MAX = 200
const NAME_MAX = 60

const fields = {
  id: Uuid(),
  name: Type.String({ examples: ['Packing table 1'] }),
  type: OneOf(WORKSTATION_TYPES, { description: 'Only active `packing` and `both` take orders' }),
  active: Type.Boolean(),
  position: Type.Integer({ description: 'Display order' }),
  memberIds: Type.Array(Uuid(), { description: 'Team members whose packing view opens here' }),
  waitingCount: Type.Integer({ description: 'Orders that wait there: paid or processing, and not packed' }),
  createdAt: Type.String(),
  updatedAt: Type.String(),
}
const Workstation = Named('Workstation', fields)
const releasedOrderCount = Type.Integer({ description: 'Orders that were waiting there, and left' })
const Changed = Named('ChangedWorkstation', { ...fields, releasedOrderCount })
const position = Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Display order; the last when left out' }))
const memberIds = Type.Optional(
  Type.Array(Type.String({ maxLength: 100 }), { maxItems: 500, description: 'Ids that are not in the team are ignored' }),
)
const WorkstationInput = Body('WorkstationInput', [{ name: 'Packing table 1', type: 'packing', active: true, position: 1 }], {
  name: Label(NAME_MAX),
  type: Type.Optional(OneOf(WORKSTATION_TYPES, { default: 'packing' })),
  active: Type.Optional(Type.Boolean({ default: true })),
  memberIds,
  position,
})
const WorkstationPatch = Body('WorkstationPatch', [{ type: 'packing', active: true, position: 1 }], {
  name: Type.Optional(Label(NAME_MAX)),
  type: Type.Optional(OneOf(WORKSTATION_TYPES)),
  active: Type.Optional(Type.Boolean()),
  memberIds,
  position,
})

const columns = {
  id: workstations.id,
  name: workstations.name,
  type: workstations.type,
  active: workstations.active,
  position: workstations.position,
  memberIds: workstations.memberIds,
  waitingCount,
  createdAt: workstations.createdAt,
  updatedAt: workstations.updatedAt,
}

async function read(db: Reader, id: string) {
  const [row] = await db.select(columns).from(workstations).where(eq(workstations.id, id))
  if (!row) throw missing('workstation')
  return row
}

/** The ids, of those given, that are members of the team. */
async function membersOf(tx: Db, ids: readonly string[] = []): Promise<string[]> {
  const wanted = lower(ids)
  if (!wanted.length) return []
  const found = new Set(
    (await tx.select({ id: teamMembers.id }).from(teamMembers).where(inArray(teamMembers.id, wanted))).map(({ id }) => id),
  )
  return wanted.filter((id) => found.has(id))
}

async function requireFree(tx: Db, name: string, except?: string) {
  const [row] = await tx.select({ id: workstations.id }).from(workstations).where(eq(workstations.name, name))
  if (row && row.id !== except) throw conflict(`a workstation is called ${name} already`)
}

const changes = { scope: 'orders:write', plan: 'workstations' } as const

export const workstationRoutes = resource('orders', '/workstations')
  .get(
    '',
    {
      operationId: 'listWorkstations',
      summary: 'List workstations',
      description: 'In their display order, all of them.',
      scope: 'orders:read',
      responses: { 200: Type.Object({ data: Type.Array(Workstation) }) },
      stored: true,
    },
    async ({ db }) => ({ data: await db.select(columns).from(workstations).orderBy(asc(workstations.position), asc(workstations.id)) }),
  )
  .post(
    '',
    {
      operationId: 'createWorkstation',
      summary: 'Add a workstation',
      ...changes,
      body: WorkstationInput,
      responses: { 201: Workstation },
    },
    ({ body, now, clock, write }) =>
      write(async (tx) => {
        await requireFree(tx, body.name)
        const [{ count, last }] = (await tx
          .select({ count: sql<number>`count(*)`, last: sql<number>`coalesce(max(${workstations.position}), -1)` })
          .from(workstations)) as [{ count: number; last: number }]
        if (count >= WORKSTATIONS_MAX) throw conflict(`a store has at most ${WORKSTATIONS_MAX} workstations`)
        const row = {
          id: clock.id(),
          name: body.name,
          type: body.type ?? 'packing',
          active: body.active ?? true,
          position: body.position ?? last + 1,
          memberIds: await membersOf(tx, body.memberIds),
          createdAt: now,
          updatedAt: now,
        }
        await tx.insert(workstations).values(row)
        return read(tx, row.id)
      }),
  )
  .get(
    '/rules',
    {
      operationId: 'listWorkstationRules',
      summary: 'List the assignment rules',
      description: 'In the order in which they are tried.',
      scope: 'orders:read',
      responses: { 200: Type.Object({ data: Type.Array(Rule) }) },
      stored: true,
    },
    async ({ db }) => ({ data: await readRules(db) }),
  )
  .put(
    '/rules',
    {
      operationId: 'replaceWorkstationRules',
      summary: 'Replace the assignment rules',
      description: 'Orders that wait and that nobody has assigned or unassigned are placed by the new ones.',
      ...changes,
      body: RulesInput,
      responses: {
        200: Type.Object({ data: Type.Array(Rule), placedOrderCount: Type.Integer({ description: 'Orders that found a workstation' }) }),
      },
    },
    ({ body, now, write }) =>
      write(async (tx) => {
        const data = await rulesOf(tx, body)
        await tx.delete(workstationRules)
        for (const row of data) await tx.insert(workstationRules).values(row)
        return { data, placedOrderCount: await assignUndecided(tx, now) }
      }),
  )
  .get(
    '/{id}',
    {
      operationId: 'getWorkstation',
      summary: 'Read a workstation',
      scope: 'orders:read',
      responses: { 200: Workstation },
      stored: true,
    },
    ({ db, params }) => read(db, params.id),
  )
  .patch(
    '/{id}',
    {
      operationId: 'updateWorkstation',
      summary: 'Change a workstation',
      description:
        'One that takes orders no longer (inactive, or only for picking) gives its waiting orders back: the rules place again what they had placed, and what was assigned by hand waits unassigned.',
      ...changes,
      body: WorkstationPatch,
      responses: { 200: Changed },
      refuses: [409],
    },
    ({ params, body, now, write }) =>
      write(async (tx) => {
        const { waitingCount: _, ...row } = await read(tx, params.id)
        if (body.name !== undefined) await requireFree(tx, body.name, row.id)
        const { memberIds: members, ...simple } = body
        const next = { ...row, ...simple, ...(members ? { memberIds: await membersOf(tx, members) } : {}), updatedAt: now }
        await tx.update(workstations).set(next).where(eq(workstations.id, row.id))
        const released = takesOrders(row) && !takesOrders(next) ? await release(tx, now, row.id) : 0
        return { ...(await read(tx, row.id)), releasedOrderCount: released }
      }),
  )
  .delete(
    '/{id}',
    {
      operationId: 'deleteWorkstation',
      summary: 'Remove a workstation',
      description: 'Its orders become unassigned, and no rule names it any more: a rule that named nothing else is removed.',
      scope: 'orders:write',
      responses: {
        200: Named('DeletedWorkstation', { id: Uuid(), deleted: Type.Literal(true), releasedOrderCount }),
      },
    },
    ({ params, now, write }) =>
      write(async (tx) => {
        const { id } = await read(tx, params.id)
        await forget(tx, id)
        const released = await abandon(tx, now, id)
        await tx.delete(workstations).where(eq(workstations.id, id))
        return { id, deleted: true as const, releasedOrderCount: released }
      }),
  )
