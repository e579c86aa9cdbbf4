/** Reading a form with a file (multipart/form-data): the fields as text, the file as bytes, both within their bounds. */
import { BODY_MAX_BYTES, readBytes, readJson, refuseBrokenText } from './body.ts'
import type { Ready } from './ready.ts'
import { invalid, Refusal, wrong } from './refusal.ts'
import type { Upload } from './route.ts'

/** What the fields beside the file, and the lines between them, may take. */
const REST_MAX_BYTES = 65_536

/** What came with a request: a checked body, the file of a form, and the text that says whether another request is the same. */
export interface Received {
  body: unknown
  file: Upload | null
  text: string
}

/** Reads the body of a request to a route: nothing, JSON, or a form. Refuses with 400, 413 or 415. */
export async function receive(ready: Ready, request: Request): Promise<Received> {
  const isForm = /^multipart\/form-data\s*;/i.test(request.headers.get('content-type') ?? '')
  if (ready.form && (isForm || !ready.body)) {
    if (!isForm) throw new Refusal(415, 'the body must be a form: send Content-Type: multipart/form-data')
    const { field, parser, maxBytes } = ready.form
    const { values, file } = await readForm(request, field, maxBytes)
    const body = parser.parse(file ? { ...values, [field]: file.name ?? field } : values)
    return {
      body,
      file,
      text: JSON.stringify([values, file && [file.name, new Bun.CryptoHasher('sha256').update(file.bytes).digest('hex')]]),
    }
  }
  if (!ready.body) return { body: undefined, file: null, text: '' }
  const { value, text } = await readJson(request)
  return { body: ready.body.parse(value), file: null, text }
}

async function parsed(bytes: Uint8Array, type: string): Promise<FormData> {
  try {
    return (await new Response(bytes as Uint8Array<ArrayBuffer>, { headers: { 'content-type': type } }).formData()) as FormData
  } catch {
    throw new Refusal(400, 'the body is not a valid form')
  }
}

/** The fields of a form, and the file in the one called `field`. A field left empty is one left out: a form has no null. */
async function readForm(request: Request, field: string, maxBytes = BODY_MAX_BYTES) {
  const bytes = await readBytes(request, maxBytes + REST_MAX_BYTES)
  const form = await parsed(bytes, request.headers.get('content-type')!)
  const values: Record<string, string> = {}
  let file: Upload | null = null
  for (const [name, value] of form as never as Iterable<[string, string | Blob]>) {
    if (name in values || (name === field && file)) throw invalid([{ code: 'custom', message: 'is given more than once', path: [name] }])
    if (typeof value !== 'string') {
      if (name !== field) continue
      if (value.size > maxBytes) throw new Refusal(413, `the file is larger than ${maxBytes} bytes`)
      if (!value.size) throw wrong(field, 'is empty')
      file = { bytes: new Uint8Array(await value.arrayBuffer()), name: ('name' in value && (value.name as string)) || null }
    } else if (name === field) throw invalid([{ code: 'invalid_type', message: 'must be a file', path: [field] }])
    // A form's own line ends are CR and LF, whatever was typed.
    else if (value !== '') values[name] = value.replaceAll('\r\n', '\n')
  }
  refuseBrokenText(values, [])
  return { values, file }
}
