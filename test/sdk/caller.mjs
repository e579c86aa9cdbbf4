/** Calls the package as it is installed, in whichever runtime this runs: what is called comes as JSON, what came of it goes back as JSON. */
import { Stoa, StoaError } from 'stoa-sdk'

const clients = new Map()

/** A form that came as a list of its fields. */
function formOf(fields) {
  const form = new FormData()
  for (const [name, value] of fields)
    if (typeof value === 'string') form.append(name, value)
    else
      form.append(name, new Blob([Uint8Array.from(atob(value.base64), (letter) => letter.charCodeAt(0))], { type: value.type }), value.name)
  return form
}

const restored = (value) => (value && typeof value === 'object' && Array.isArray(value.form) ? formOf(value.form) : value)

export async function call({ options, resource, method, given, isWalked }) {
  const name = JSON.stringify(options)
  if (!clients.has(name)) clients.set(name, new Stoa(options))
  const api = clients.get(name)[resource]
  try {
    const answer = (method === '()' ? api : api[method])(...given.map(restored))
    if (isWalked) return { status: 200, data: await answer.all() }
    const { data, response, etag, requestId } = await answer.withResponse()
    const type = response.headers.get('content-type')
    return { status: response.status, type, etag, requestId, data: data instanceof Blob ? { bytes: data.size } : data }
  } catch (error) {
    if (!(error instanceof StoaError)) return { thrown: String(error) }
    const { status, code, message, details, requestId, body } = error
    return { status, code, message, details, requestId, data: body }
  }
}

globalThis.callSdk = call

if (globalThis.process?.argv?.[2] === 'lines') {
  const { createInterface } = await import('node:readline')
  for await (const line of createInterface({ input: process.stdin }))
    process.stdout.write(`${JSON.stringify(await call(JSON.parse(line)))}\n`)
}
