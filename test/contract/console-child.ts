/** Which files of packages a process has loaded that has shown the reference, and then the console: printed as JSON. */
import { createRequire } from 'node:module'
import { testApp } from '../harness.ts'

const loaded = () => Object.keys(createRequire(import.meta.url).cache).filter((path) => /@scalar|@elysiajs/.test(path))
const app = await testApp()
const show = async (path: string) => {
  const { status } = await app.app.fetch(new Request(`http://localhost/api/v1/docs${path}`))
  return { status, loaded: loaded() }
}
console.log(JSON.stringify([await show(''), await show('/console')]))
await app.close()
