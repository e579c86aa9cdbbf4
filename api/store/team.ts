/** `/team`: who works in the store, and who is invited to (document 3, Store, settings, team, keys). */
import { and, asc, eq, gt, lte, ne, sql } from 'drizzle-orm'
import { hashOf } from '../../db/control/keys.ts'
import type { Db, Reader } from '../../db/driver.ts'
import type { Environment } from '../../db/open.ts'
import { workstations } from '../../db/store/workstations.ts'
import { teamInvitations, teamMembers } from '../../db/store/store.ts'
import { normalizeEmail } from '../values/email.ts'
import { conflict, missing, wrong } from '../values/refusal.ts'
import { resource } from '../http/route.ts'
import { Body, Counted, deleted, Deleted, Email, Label, Named, Nullable, OneOf, Paging, Text, Type, Uuid } from '../http/schema.ts'

/** An invitation that nobody accepts for this long is over. */
const INVITATION_MS = 7 * 24 * 60 * 60 * 1000

const ROLES = ['owner', 'admin', 'staff'] as const
const Role = OneOf(ROLES)
const Name = Nullable(Label(100))
const Member = Named('TeamMember', {
  id: Uuid(),
  email: Type.String(),
  name: Nullable(Type.String({ examples: ['Ada Lovelace'] })),
  role: Role,
  createdAt: Type.String(),
})
const Invitation = Named('TeamInvitation', {
  id: Uuid(),
  email: Type.String(),
  role: Role,
  createdAt: Type.String(),
  expiresAt: Type.String(),
})
const NewInvitation = Named('NewTeamInvitation', {
  ...Invitation.properties,
  token: Type.String({ description: 'Shown this once; who has it can join' }),
})

const InvitationInput = Body('InviteTeamMemberInput', [{ email: 'ada@example.com', role: 'staff' }], {
  email: Email(),
  role: Type.Optional(OneOf(ROLES, { default: 'staff' })),
})
const Acceptance = Body('AcceptTeamInvitationInput', [{ token: '5f2b7c0e9d1a4c6f8b3e2d7a1c9f4e60' }], {
  token: Text(1, 200),
  name: Type.Optional(Name),
})
const MemberPatch = Body('TeamMemberPatch', [{ role: 'owner' }], { role: Type.Optional(Role), name: Type.Optional(Name) })
const Transfer = Body('TransferOwnershipInput', [{ memberId: '01985d2c-7c00-7d34-86ac-ac428afe9a52' }], { memberId: Uuid() })

const invitationColumns = {
  id: teamInvitations.id,
  email: teamInvitations.email,
  role: teamInvitations.role,
  createdAt: teamInvitations.createdAt,
  expiresAt: teamInvitations.expiresAt,
}

async function findMember(db: Reader, id: string) {
  const [row] = await db.select().from(teamMembers).where(eq(teamMembers.id, id))
  return row
}

async function memberOf(db: Reader, id: string) {
  const row = await findMember(db, id)
  if (!row) throw missing('team member')
  return row
}

/** Refuses to take the last owner away: nobody could make another. */
async function keepOwner(tx: Db, member: { role: string }) {
  if (member.role !== 'owner' || (await tx.$count(teamMembers, eq(teamMembers.role, 'owner'))) > 1) return
  throw conflict('the last owner can be neither removed nor demoted: transfer the ownership first')
}

/** Accepting takes no key, so the token itself says in which database its hash is: `<store id>.<l|s>.<secret>`. */
const tokenFor = (storeId: string, environment: Environment, secret: string) =>
  `${storeId.replaceAll('-', '')}.${environment === 'live' ? 'l' : 's'}.${secret}`

function placeOf(token: string): { storeId: string; environment: Environment } | null {
  const match = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})\.([ls])\.[\w-]+$/.exec(token)
  return match && { storeId: match.slice(1, 6).join('-'), environment: match[6] === 'l' ? 'live' : 'sandbox' }
}

export const teamRoutes = resource('store', '/team')
  .get(
    '',
    { operationId: 'listTeam', summary: 'List team members', scope: 'team:read', query: Paging(50), responses: { 200: Counted(Member) } },
    async ({ db, query: { limit, offset } }) => ({
      data: await db.select().from(teamMembers).orderBy(asc(teamMembers.id)).limit(limit).offset(offset),
      meta: { count: await db.$count(teamMembers) },
    }),
  )
  .get(
    '/invitations',
    {
      operationId: 'listTeamInvitations',
      summary: 'List invitations',
      scope: 'team:read',
      query: Paging(50),
      responses: { 200: Counted(Invitation) },
    },
    async ({ db, query: { limit, offset } }) => ({
      data: await db.select(invitationColumns).from(teamInvitations).orderBy(asc(teamInvitations.id)).limit(limit).offset(offset),
      meta: { count: await db.$count(teamInvitations) },
    }),
  )
  .post(
    '/invitations',
    {
      operationId: 'inviteTeamMember',
      summary: 'Invite someone',
      description: 'The invitation is open for 7 days. One that is over may be replaced.',
      scope: 'team:write',
      body: InvitationInput,
      responses: { 201: NewInvitation },
    },
    ({ body, write, session, clock, now }) =>
      write(async (tx) => {
        const email = normalizeEmail(body.email)
        const token = tokenFor(session.store.id, session.environment, clock.secret())
        const invitation = {
          id: clock.id(),
          email,
          role: body.role!,
          createdAt: now,
          expiresAt: new Date(Date.parse(now) + INVITATION_MS).toISOString(),
        }
        if (await tx.$count(teamMembers, eq(teamMembers.email, email))) throw conflict('already a member of the team')
        await tx.delete(teamInvitations).where(and(eq(teamInvitations.email, email), lte(teamInvitations.expiresAt, now)))
        if (await tx.$count(teamInvitations, eq(teamInvitations.email, email))) throw conflict('already invited')
        await tx.insert(teamInvitations).values({ ...invitation, tokenHash: hashOf(token) })
        return { ...invitation, token }
      }),
  )
  .get(
    '/invitations/{id}',
    { operationId: 'getTeamInvitation', summary: 'Read an invitation', scope: 'team:read', responses: { 200: Invitation } },
    async ({ db, params }) => {
      const [row] = await db.select(invitationColumns).from(teamInvitations).where(eq(teamInvitations.id, params.id))
      if (!row) throw missing('invitation')
      return row
    },
  )
  .delete(
    '/invitations/{id}',
    { operationId: 'deleteTeamInvitation', summary: 'Take an invitation back', scope: 'team:write', responses: { 200: Deleted } },
    ({ params, write }) =>
      write(async (tx) => {
        if (!(await tx.delete(teamInvitations).where(eq(teamInvitations.id, params.id))).changes) throw missing('invitation')
        return deleted
      }),
  )
  .post(
    '/invitations/accept',
    {
      operationId: 'acceptTeamInvitation',
      summary: 'Join the team',
      description: 'A token that is unknown, used or over is the same 404.',
      scope: 'public',
      body: Acceptance,
      responses: { 201: Member },
      refuses: [404, 409],
      async owner({ body, services }) {
        const place = placeOf(body.token)
        if (!place || !(await services.registry.store(place.storeId))) throw missing('invitation')
        return place
      },
    },
    async ({ body, db, write, clock, now }) => {
      const open = and(eq(teamInvitations.tokenHash, hashOf(body.token)), gt(teamInvitations.expiresAt, now))
      // A stranger's guess takes no turn in the line of writes.
      if (!(await db.$count(teamInvitations, open))) throw missing('invitation')
      return write(async (tx) => {
        const [invitation] = await tx.delete(teamInvitations).where(open).returning()
        if (!invitation) throw missing('invitation')
        const { email, role } = invitation
        if (await tx.$count(teamMembers, eq(teamMembers.email, email))) throw conflict('already a member of the team')
        const member = { id: clock.id(), email, name: body.name ?? null, role, createdAt: now }
        await tx.insert(teamMembers).values(member)
        return member
      })
    },
  )
  .patch(
    '/{id}',
    {
      operationId: 'updateTeamMember',
      summary: 'Change a member',
      scope: 'team:write',
      body: MemberPatch,
      responses: { 200: Member },
      refuses: [409],
    },
    ({ body, params, write }) =>
      write(async (tx) => {
        const member = await memberOf(tx, params.id)
        const { role = member.role, name = member.name } = body
        if (role !== 'owner') await keepOwner(tx, member)
        await tx.update(teamMembers).set({ role, name }).where(eq(teamMembers.id, member.id))
        return { ...member, role, name }
      }),
  )
  .delete(
    '/{id}',
    { operationId: 'deleteTeamMember', summary: 'Remove a member', scope: 'team:write', responses: { 200: Deleted }, refuses: [409] },
    ({ params, write }) =>
      write(async (tx) => {
        const member = await memberOf(tx, params.id)
        await keepOwner(tx, member)
        await tx.delete(teamMembers).where(eq(teamMembers.id, member.id))
        await tx
          .update(workstations)
          .set({ memberIds: sql`(select json_group_array(value) from json_each(${workstations.memberIds}) where value <> ${member.id})` })
          .where(sql`exists (select 1 from json_each(${workstations.memberIds}) where value = ${member.id})`)
        return deleted
      }),
  )
  .post(
    '/transfer-ownership',
    {
      operationId: 'transferOwnership',
      summary: 'Hand the store to another member',
      description: 'The member becomes the only owner; those who were become admins.',
      scope: 'team:write',
      body: Transfer,
      responses: { 200: Member },
    },
    ({ body, write }) =>
      write(async (tx) => {
        const member = await findMember(tx, body.memberId)
        if (!member) throw wrong('memberId', 'no such team member')
        await tx
          .update(teamMembers)
          .set({ role: 'admin' })
          .where(and(eq(teamMembers.role, 'owner'), ne(teamMembers.id, member.id)))
        await tx.update(teamMembers).set({ role: 'owner' }).where(eq(teamMembers.id, member.id))
        return { ...member, role: 'owner' }
      }),
  )
