/** `/usage`: what the store uses of the disk and of builds, and how much it may. */
import { ownerOf } from '../http/auth.ts'
import { resource } from '../http/route.ts'
import { Named, Nullable, Type } from '../http/schema.ts'
import { buildsIn, usageOf } from './room.ts'

const Bytes = (description: string) => Type.Integer({ description })
const Usage = Named('Usage', {
  disk: Type.Object(
    {
      usedBytes: Bytes('All that is counted, of the live data and the sandbox together'),
      quotaBytes: Bytes('Uploads and builds are refused with 403 once it is used up'),
      mediaBytes: Bytes('Media with their renditions, and files of support cases'),
      databaseBytes: Bytes('The databases, as they were measured'),
      deploymentBytes: Bytes('Built storefronts on this machine, as they were measured'),
      projectBytes: Bytes('The design workspace with its history, as it was measured'),
      measuredAt: Nullable(Type.String(), { description: 'When that was; null: not yet' }),
    },
    { description: 'What the store keeps, and how much it may' },
  ),
  builds: Type.Object(
    {
      used: Type.Integer({ description: 'Publishes and previews of the last 24 hours' }),
      perDay: Type.Integer({ description: 'More in 24 hours are refused with 429' }),
    },
    { description: 'What was built because somebody asked for it' },
  ),
})

export const usageRoutes = resource('store', '/usage').get(
  '',
  {
    operationId: 'getUsage',
    summary: 'What is used of the disk and of builds',
    scope: 'settings:read',
    responses: { 200: Usage },
  },
  async (call) => {
    const { diskBytes, buildsPerDay, disk, usedBytes, measuredAt } = await usageOf(call.services.registry, call.db, ownerOf(call))
    return {
      disk: { usedBytes, quotaBytes: diskBytes, ...disk, measuredAt },
      builds: { used: await buildsIn(call.db, call.now), perDay: buildsPerDay },
    }
  },
)
