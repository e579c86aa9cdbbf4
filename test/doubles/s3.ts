/**
 * A double of an S3 store on loopback, in its wire format: objects by path, lists as XML, refusals with a code, and signatures (AWS Signature
 * Version 4, in the query or in a header) that are computed here again.
 */
import { createHash, createHmac } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { BucketPlace } from '../../db/bucket.ts'

const REGION = 'us-east-1'
/** Small, so that lists have pages. */
const PAGE = 7

export interface S3Double {
  place: BucketPlace
  /** As the environment has it. */
  env: Record<string, string>
  objects: Map<string, { bytes: Uint8Array; type: string; at: Date }>
  /** Method and key of each request. */
  seen: string[]
  /** `down` answers 503 to everything; `hanging` answers nothing; `silent` begins an answer and does not end it; `cut` ends it in the middle. */
  mood: 'well' | 'down' | 'hanging' | 'silent' | 'cut'
  /** Requests whose key has this in it are refused with 500. */
  refuses: string | null
  close(): void
}

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest()
const coded = (text: string) => encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)

/** What is wrong with the signature of a request; null when it is right. */
function wrongSignature(request: Request, { accessKeyId, secretAccessKey }: BucketPlace): string | null {
  const url = new URL(request.url)
  const query = url.searchParams
  const isQuery = query.has('X-Amz-Signature')
  const header = Object.fromEntries(
    (request.headers.get('authorization') ?? '')
      .replace(/^AWS4-HMAC-SHA256 /, '')
      .split(/, ?/)
      .map((part) => part.split(/=(.*)/s).slice(0, 2)),
  ) as Record<string, string>
  const credential = (isQuery ? query.get('X-Amz-Credential') : header.Credential) ?? ''
  const signedHeaders = (isQuery ? query.get('X-Amz-SignedHeaders') : header.SignedHeaders) ?? ''
  const date = (isQuery ? query.get('X-Amz-Date') : request.headers.get('x-amz-date')) ?? ''
  const given = isQuery ? query.get('X-Amz-Signature') : header.Signature
  const [id, day, region, ...scope] = credential.split('/')
  if (id !== accessKeyId) return 'InvalidAccessKeyId'
  if (region !== REGION || scope.join('/') !== 's3/aws4_request') return 'AuthorizationHeaderMalformed'
  const at = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  if (!(Math.abs(Date.now() - at) < 900_000)) return 'RequestTimeTooSkewed'
  const path = url.pathname
    .split('/')
    .map((part) => coded(decodeURIComponent(part)))
    .join('/')
  const sorted = [...query]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${coded(name)}=${coded(value)}`)
    .toSorted()
    .join('&')
  const headers = signedHeaders.split(';').map((name: string) => `${name}:${request.headers.get(name)?.trim() ?? ''}\n`)
  const payload = isQuery ? 'UNSIGNED-PAYLOAD' : (request.headers.get('x-amz-content-sha256') ?? '')
  const canonical = [request.method, path, sorted, headers.join(''), signedHeaders, payload].join('\n')
  const toSign = ['AWS4-HMAC-SHA256', date, `${day}/${region}/s3/aws4_request`, sha256(canonical)].join('\n')
  const key = hmac(hmac(hmac(hmac(`AWS4${secretAccessKey}`, day!), region), 's3'), 'aws4_request')
  return hmac(key, toSign).toString('hex') === given ? null : 'SignatureDoesNotMatch'
}

const refusal = (status: number, code: string) =>
  new Response(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>refused</Message></Error>`, {
    status,
    headers: { 'content-type': 'application/xml' },
  })

function listed(objects: S3Double['objects'], name: string, query: URLSearchParams): Response {
  const prefix = query.get('prefix') ?? ''
  const after = query.get('start-after') ?? ''
  const most = Math.min(PAGE, Number(query.get('max-keys') ?? PAGE))
  const all = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).toSorted()
  const contents = all.slice(0, most).map((key) => {
    const { bytes, at } = objects.get(key)!
    return `<Contents><Key>${key}</Key><LastModified>${at.toISOString()}</LastModified><ETag>&quot;x&quot;</ETag><Size>${bytes.length}</Size><StorageClass>STANDARD</StorageClass></Contents>`
  })
  return new Response(
    `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${name}</Name><Prefix>${prefix}</Prefix><KeyCount>${contents.length}</KeyCount><MaxKeys>${most}</MaxKeys><IsTruncated>${all.length > most}</IsTruncated>${contents.join('')}</ListBucketResult>`,
    { headers: { 'content-type': 'application/xml' } },
  )
}

/** Sends an answer as a mood has it: whole, or its first half and then nothing, or the end of the connection. */
async function send(answer: Response, to: ServerResponse, mood: S3Double['mood']) {
  const bytes = new Uint8Array(await answer.arrayBuffer())
  to.writeHead(answer.status, {
    ...Object.fromEntries(answer.headers),
    ...(answer.headers.has('content-length') ? {} : { 'content-length': bytes.length }),
  })
  if (mood === 'silent' || mood === 'cut') {
    to.write(bytes.subarray(0, Math.ceil(bytes.length / 2)))
    if (mood === 'cut') setTimeout(() => to.destroy(), 20)
  } else to.end(bytes)
}

export async function s3Double(): Promise<S3Double> {
  const name = 'stoa-files'
  const answer = async (request: Request): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url)
    const [, bucket, ...rest] = decodeURIComponent(pathname).split('/')
    const key = rest.join('/')
    s3.seen.push(`${request.method} ${key || `?${searchParams.get('prefix')}`}`)
    if (s3.mood === 'down') return refusal(503, 'SlowDown')
    const wrong = wrongSignature(request, s3.place)
    if (wrong) return refusal(403, wrong)
    if (bucket !== name) return refusal(404, 'NoSuchBucket')
    if (s3.refuses !== null && key.includes(s3.refuses)) return refusal(500, 'InternalError')
    if (request.method === 'PUT') {
      const bytes = new Uint8Array(await request.arrayBuffer())
      s3.objects.set(key, { bytes, type: request.headers.get('content-type') ?? '', at: new Date() })
      return new Response(null, { headers: { etag: '"x"' } })
    }
    if (request.method === 'DELETE') {
      s3.objects.delete(key)
      return new Response(null, { status: 204 })
    }
    if (!key) return listed(s3.objects, name, searchParams)
    const found = s3.objects.get(key)
    if (!found) return request.method === 'HEAD' ? new Response(null, { status: 404 }) : refusal(404, 'NoSuchKey')
    const headers = { 'content-type': found.type, 'content-length': String(found.bytes.length) }
    return new Response(request.method === 'HEAD' ? null : new Uint8Array(found.bytes), { headers })
  }
  const server = createServer(async (incoming, outgoing) => {
    if (s3.mood === 'hanging') return
    const { method, headers, url } = incoming
    const chunks: Uint8Array[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    // A break in the middle of a body is no request.
    if (headers['content-length'] !== undefined && Number(headers['content-length']) !== body.length) return
    const request = new Request(`http://${headers.host}${url}`, {
      ...{ method, headers: headers as Record<string, string> },
      ...(method === 'PUT' && { body }),
    })
    await send(await answer(request), outgoing, s3.mood)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as { port: number }
  const place = { endpoint: `http://127.0.0.1:${port}`, bucket: name, accessKeyId: 'stoa', secretAccessKey: 'a+secret/of=s3' }
  const s3: S3Double = {
    place,
    env: {
      S3_ENDPOINT: place.endpoint,
      S3_BUCKET: place.bucket,
      S3_ACCESS_KEY_ID: place.accessKeyId,
      S3_SECRET_ACCESS_KEY: place.secretAccessKey,
    },
    objects: new Map(),
    seen: [],
    mood: 'well',
    refuses: null,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return s3
}
