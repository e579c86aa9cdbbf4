/** `/audit-log`: which key changed what, and when (document 3, Store, settings, team, keys). The rows are written with each change. */
import { and, desc, eq, lt, or } from 'drizzle-orm'
import { auditLog } from '../../db/store/store.ts'
import { cursorOf, placeOf } from '../http/input/cursor.ts'
import { resource, VIA } from '../http/route.ts'
import { Named, Nullable, OneOf, Paging, Text, Type, Uuid } from '../http/schema.ts'

const Entry = Named('AuditLog', {
  id: Uuid(),
  keyId: Uuid(),
  keyName: Type.String(),
  method: Type.String(),
  path: Type.String(),
  resource: Type.String({ description: 'First part of the path' }),
  requestId: Type.String({ examples: ['01985d2c-7c00-7b05-8c5b-5b8def2f1be0'] }),
  via: OneOf(VIA, { description: '`mcp`: by a tool of the MCP server' }),
  createdAt: Type.String(),
})

export const auditLogRoutes = resource('store', '/audit-log').get(
  '',
  {
    operationId: 'listAuditLog',
    summary: 'List changes, newest first',
    scope: 'store:admin',
    query: { limit: Paging(50).limit, cursor: Type.Optional(Text(1, 200, { description: '`nextCursor` of the page before' })) },
    responses: { 200: Type.Object({ data: Type.Array(Entry), nextCursor: Nullable(Type.String(), { description: 'Null at the end' }) }) },
  },
  async ({ db, query: { limit, cursor } }) => {
    const place = cursor === undefined ? null : placeOf(cursor)
    const older = place ? or(lt(auditLog.createdAt, place.at), and(eq(auditLog.createdAt, place.at), lt(auditLog.id, place.id))) : undefined
    // One more than asked for tells whether there is another page.
    const rows = await db
      .select()
      .from(auditLog)
      .where(older)
      .orderBy(desc(auditLog.createdAt), desc(auditLog.id))
      .limit(limit + 1)
    const data = rows.slice(0, limit)
    const last = data.at(-1)
    return { data, nextCursor: rows.length > limit ? cursorOf({ at: last!.createdAt, id: last!.id }) : null }
  },
)
