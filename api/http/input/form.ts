/** Reading a form with a file (multipart/form-data): the fields as text, the file as bytes, both within their bounds. */
import { BODY_MAX_BYTES, readJson, STRANGER_MAX_BYTES, tooLarge, type Allowance } from './body.ts'
import { readBytes } from './bytes.ts'
import { refuseBrokenText } from './json.ts'
import type { Ready } from '../ready.ts'
import type { Notes } from './notes.ts'
import { invalid, Refusal, wrong } from '../../values/refusal.ts'
import type { Upload } from '../route.ts'

/** The most bytes that the fields beside the file, and the lines between them, may take. */
const REST_MAX_BYTES = 65_536
/** Parts of a form: more than any route has fields. */
const PARTS_MAX = 100
/** The `Content-Type` of a form: its parameters, and what a boundary is made of. */
const TYPE_MAX_LENGTH = 300
const PARAMETERS = /^multipart\/form-data\s*((?:;\s*[\w-]+=(?:"[^"\\]*"|[^\s;"]+)\s*)+)$/i
const BOUNDARY = /^[0-9A-Za-z'()+_,./:=?-]{1,70}$/
/** A file of 20 MB over a slow phone. */
const DEADLINE_MS = 300_000

/** The payload of a request: a checked body, the file of a form, and the text that says whether another request is the same. */
export interface Received {
  body: unknown
  file: Upload | null
  text: string
}

/** How much is read, the file of a form aside, and where what it has unknown is noted. */
export interface Receiving extends Allowance {
  notes: Notes
}

/** The payload of a request to a route that takes no body. */
export const NOTHING: Received = { body: undefined, file: null, text: '' }

/** Whether a route takes a body: most requests are to one that doesn't, and need not wait for it. */
export const receives = ({ body, form }: Ready) => body !== null || form !== null

/** Refuses what a stranger declares to be larger than it may be, before anything is looked up: a route need not read it at all. */
export function refuseDeclared({ form, route }: Ready, { headers }: Request) {
  if (route.method !== 'GET' && !form?.field && Number(headers.get('content-length')) > STRANGER_MAX_BYTES)
    throw tooLarge(STRANGER_MAX_BYTES)
}

/** Reads the body of a request to a route that takes one, JSON or a form. Refuses with 400, 408, 413, 415 or 503. */
export async function receive({ body, form }: Ready, request: Request, receiving: Receiving): Promise<Received> {
  if (form) {
    const type = request.headers.get('content-type') ?? ''
    if (/^multipart\/form-data\s*;/i.test(type)) return receiveForm(form, request, type, receiving)
    if (!body || (type && !/json/i.test(type)))
      throw new Refusal(415, `the body must be a form${body ? ' or JSON' : ''}: send Content-Type: multipart/form-data`)
  }
  const { value, text } = await readJson(request, receiving)
  return { body: body!.parse(value, receiving.notes), file: null, text }
}

async function receiveForm(
  { field, parser, maxBytes = BODY_MAX_BYTES }: NonNullable<Ready['form']>,
  request: Request,
  type: string,
  { share, notes, maxBytes: fieldsMax }: Receiving,
) {
  // One that has no file is a body like any other.
  const size =
    field === ''
      ? { maxBytes: fieldsMax, tooLarge: () => tooLarge(fieldsMax) }
      : { maxBytes: maxBytes + REST_MAX_BYTES, tooLarge: () => tooLargeFile(maxBytes) }
  const bytes = await readBytes(request, { ...size, share, deadlineMs: DEADLINE_MS })
  const { values, file } = await valuesOf(await parsed(bytes, type), field, maxBytes)
  requireShort(values, fieldsMax)
  refuseBrokenText(values)
  const body = parser.parse(file ? { ...values, [field]: file.name ?? field } : values, notes)
  // The line between the parts is another one each time: what is compared is what it divides.
  const sum = file && new Bun.CryptoHasher('sha256').update(file.bytes).digest('hex')
  return { body, file, text: JSON.stringify([values, file?.name, sum]) }
}

const tooLargeFile = (maxBytes: number) => new Refusal(413, `the file is larger than ${maxBytes} bytes`)

/** Refuses fields that a body of JSON could not have either: what a form may be large for is its file. */
function requireShort(values: Record<string, string>, maxBytes: number) {
  let bytes = 0
  for (const name in values) bytes += Buffer.byteLength(name) + Buffer.byteLength(values[name]!)
  if (bytes > maxBytes) throw new Refusal(413, `the fields of the form are larger than ${maxBytes} bytes`)
}

/**
 * The boundary of a form (RFC 2046, 5.1.1); null where one reader of the header may find another one than the next: what is counted here is
 * to be what is parsed.
 */
function boundaryOf(type: string): string | null {
  const parameters = type.length <= TYPE_MAX_LENGTH && PARAMETERS.exec(type)?.[1]
  const found = [...(parameters || '').matchAll(/;\s*boundary=(?:"([^"]*)"|([^\s;"]+))/gi)]
  if (found.length !== 1) return null
  const boundary = found[0]![1] ?? found[0]![2]!
  return BOUNDARY.test(boundary) ? boundary : null
}

/** Refuses a form of very many parts: each takes time and memory of its own. */
function requireFewParts(bytes: Uint8Array, boundary: string) {
  const [all, mark] = [Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), Buffer.from(`--${boundary}`)]
  for (let parts = 0, at = all.indexOf(mark); at >= 0; at = all.indexOf(mark, at + mark.length))
    if (++parts > PARTS_MAX) throw new Refusal(400, 'the form has too many parts')
}

async function parsed(bytes: Uint8Array, type: string): Promise<FormData> {
  const boundary = boundaryOf(type)
  if (boundary === null) throw new Refusal(400, 'the form has no usable boundary')
  requireFewParts(bytes, boundary)
  try {
    const headers = { 'content-type': `multipart/form-data; boundary="${boundary}"` }
    return (await new Response(bytes as Uint8Array<ArrayBuffer>, { headers }).formData()) as FormData
  } catch {
    throw new Refusal(400, 'the body is not a valid form')
  }
}

/** The fields of a form, and the file in the one called `field`. A field left empty is one left out: a form has no null. */
async function valuesOf(form: FormData, field: string, maxBytes: number) {
  const values: Record<string, string> = Object.create(null)
  let file: Upload | null = null
  for (const [name, value] of form as never as Iterable<[string, string | Blob]>) {
    if (name in values || (name === field && file)) throw invalid([{ code: 'custom', message: 'is given more than once', path: [name] }])
    if (typeof value !== 'string') {
      if (name !== field) continue
      // Browsers send an empty file for a field in which none was chosen.
      if (!value.size && !('name' in value && value.name)) continue
      if (value.size > maxBytes) throw tooLargeFile(maxBytes)
      if (!value.size) throw wrong(field, 'is empty')
      file = { bytes: new Uint8Array(await value.arrayBuffer()), name: ('name' in value && (value.name as string)) || null }
    } else if (name === field) throw invalid([{ code: 'invalid_type', message: 'must be a file', path: [field] }])
    // A form's own line ends are CR and LF, whatever was typed.
    else if (value !== '') values[name] = value.replaceAll('\r\n', '\n')
  }
  return { values, file }
}
