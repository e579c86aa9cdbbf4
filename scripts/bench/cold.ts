/** The store API as `api/main.ts` starts it, but that it remembers no answers. */
import { serveApi } from '../../api/main.ts'
import { readConfig } from '../../api/server/config.ts'
import { onShutdown } from '../../api/server/shutdown.ts'

const api = await serveApi(readConfig(process.env), { rememberedBytes: 0 })
onShutdown(() => api.stop())
console.log(api.listensOn)
