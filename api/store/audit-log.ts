/** `/audit-log`: which key changed what, and when (document 3, Store, settings, team, keys). The rows are written with each change. */
import { and, desc, eq, lt, or } from 'drizzle-orm'
import { auditLog } from '../../db/store/store.ts'
import { wrong } from '../http/refusal.ts'
import { resource } from '../http/route.ts'
import { Nullable, Paging, Text, Type, Uuid } from '../http/schema.ts'

const Entry = Type.Object({
  id: Uuid(),
  keyId: Uuid(),
  keyName: Type.String(),
  method: Type.String(),
  path: Type.String(),
  resource: Type.String({ description: 'First part of the path' }),
  requestId: Type.String(),
  createdAt: Type.String(),
})

interface Place {
  createdAt: string
  id: string
}
/** Two entries may share an instant, so a cursor holds the id beside it. */
const cursorOf = ({ createdAt, id }: Place) => Buffer.from(`${createdAt} ${id}`).toString('base64url')

function placeOf(cursor: string): Place {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([0-9a-f-]{36})$/.exec(Buffer.from(cursor, 'base64url').toString())
  if (!match) throw wrong('cursor', 'is not a cursor of this list')
  return { createdAt: match[1]!, id: match[2]! }
}

export const auditLogRoutes = resource('store', '/audit-log').get(
  '',
  {
    op: 'listAuditLog',
    summary: 'List changes, newest first',
    scope: 'store:admin',
    query: { limit: Paging(50).limit, cursor: Type.Optional(Text(1, 200, { description: '`nextCursor` of the page before' })) },
    answers: { 200: Type.Object({ data: Type.Array(Entry), nextCursor: Nullable(Type.String(), { description: 'Null at the end' }) }) },
  },
  async ({ db, query: { limit, cursor } }) => {
    const at = cursor === undefined ? null : placeOf(cursor)
    const older = at
      ? or(lt(auditLog.createdAt, at.createdAt), and(eq(auditLog.createdAt, at.createdAt), lt(auditLog.id, at.id)))
      : undefined
    // One more than asked for tells whether there is another page.
    const rows = await db
      .select()
      .from(auditLog)
      .where(older)
      .orderBy(desc(auditLog.createdAt), desc(auditLog.id))
      .limit(limit + 1)
    const data = rows.slice(0, limit)
    return { data, nextCursor: rows.length > limit ? cursorOf(data.at(-1)!) : null }
  },
)
