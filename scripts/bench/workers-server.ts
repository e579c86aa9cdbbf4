/** The store API in as many processes as `WORKERS` says, as `npm start` has it beside the content site. */
import { readConfig } from '../../api/server/config.ts'
import { onShutdown } from '../../api/server/shutdown.ts'
import { startWorkers } from '../workers.ts'

const api = await startWorkers(readConfig(process.env))
onShutdown(() => api.stop())
console.log(api.listensOn)
