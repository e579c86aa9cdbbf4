/**
 * Questions to DNS servers, over UDP, and over TCP where an answer does not fit (RFC 1035). Bun's resolver says ENOTFOUND of a name that
 * does not exist and of one that has no record of the kind: a merchant has to know which.
 */
import { createSocket } from 'node:dgram'
import { connect, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Kinds of records, with their numbers on the wire. */
const TYPES = { A: 1, CNAME: 5, TXT: 16, AAAA: 28 } as const
export type RecordType = keyof typeof TYPES

/** What DNS knows of a name. */
export interface DnsAnswer {
  /** Whether there is such a name, with whatever records. */
  exists: boolean
  /** The names that it leads to by `CNAME`, in their order. */
  aliases: string[]
  /** The records of the kind asked for: names, texts, or addresses in their shortest form. */
  values: string[]
}

/** All servers together have this long, each of them is asked twice. */
const ANSWER_MS = 5_000
const TRIES = 2
/** As many as the system's own configuration may name. */
const SERVERS_MAX = 3
const HEADER_BYTES = 12
const NAME_MAX_BYTES = 255
const LABEL_MAX_BYTES = 63
const POINTER = 0xc0
/** Of a record, behind its name: type, class, time to live, length. */
const RECORD_HEAD_BYTES = 10
/** Names that lead to names are followed so far. */
const ALIASES_MAX = 16
const [RESPONSE, TRUNCATED, RECURSION] = [0x8000, 0x0200, 0x0100]
const CODE = 0x000f
const NXDOMAIN = 3
const INTERNET = 1

function encodedName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(label, 'latin1'))
  if (labels.some(({ length }) => length < 1 || length > LABEL_MAX_BYTES)) throw new Error('no name of DNS')
  return Buffer.concat([...labels.flatMap((label) => [Buffer.from([label.length]), label]), Buffer.from([0])])
}

/** A question for a name that nobody can answer who has not seen it: its id is random, and so is the port that it comes from. */
function questionFor(name: string, type: RecordType): Buffer {
  const head = Buffer.alloc(HEADER_BYTES)
  head.writeUInt16BE(crypto.getRandomValues(new Uint16Array(1))[0]!, 0)
  head.writeUInt16BE(RECURSION, 2)
  head.writeUInt16BE(1, 4)
  const tail = Buffer.alloc(4)
  tail.writeUInt16BE(TYPES[type], 0)
  tail.writeUInt16BE(INTERNET, 2)
  return Buffer.concat([head, encodedName(name), tail])
}

/** Whether a message answers a question: with its id, and saying it again, in whatever case. */
function answers(question: Buffer, message: Buffer): boolean {
  const asked = (bytes: Buffer) => bytes.toString('latin1', HEADER_BYTES, question.length).toLowerCase()
  return (
    message.length >= question.length &&
    message.readUInt16BE(0) === question.readUInt16BE(0) &&
    (message.readUInt16BE(2) & RESPONSE) !== 0 &&
    asked(message) === asked(question)
  )
}

/** The name at a place of a message, in lower case, and where it ends. Pointers lead back, and to no more than a name may have. */
function nameAt(message: Buffer, start: number): { name: string; end: number } {
  const labels: string[] = []
  let end: number | null = null
  let at = start
  for (let bytes = 0; bytes <= NAME_MAX_BYTES;) {
    const length = message.readUInt8(at)
    if (length === 0) return { name: labels.join('.').toLowerCase(), end: end ?? at + 1 }
    if (length > LABEL_MAX_BYTES) {
      // Two bits say that it is a pointer; of the two kinds with one of them, none was ever made.
      if (length < POINTER) throw new Error('a label of no known kind')
      end ??= at + 2
      const to = message.readUInt16BE(at) & 0x3fff
      if (to >= at || to < HEADER_BYTES) break
      at = to
      bytes++
    } else {
      // A dot inside of a label would make one name look like another.
      labels.push(message.toString('latin1', at + 1, at + 1 + length).replaceAll('.', '\\.'))
      at += length + 1
      bytes += length + 1
    }
  }
  throw new Error('a name that never ends')
}

/** A TXT record is one text, in parts of at most 255 bytes. */
function textOf(data: Buffer): string {
  const parts: Buffer[] = []
  for (let at = 0; at < data.length; at += data[at]! + 1) parts.push(data.subarray(at + 1, at + 1 + data[at]!))
  return Buffer.concat(parts).toString('utf8')
}

interface Found {
  name: string
  type: number
  value: string
}

/** The records of an answer, of the kinds that are known here. */
function recordsOf(message: Buffer, start: number): Found[] {
  const found: Found[] = []
  let at = start
  for (let left = message.readUInt16BE(6); left > 0; left--) {
    const { name, end } = nameAt(message, at)
    const type = message.readUInt16BE(end)
    const from = end + RECORD_HEAD_BYTES
    at = from + message.readUInt16BE(from - 2)
    if (at > message.length) throw new Error('a record that is cut off')
    const data = message.subarray(from, at)
    if (type === TYPES.CNAME) found.push({ name, type, value: nameAt(message, from).name })
    else if (type === TYPES.TXT) found.push({ name, type, value: textOf(data) })
    else if (type === TYPES.A || type === TYPES.AAAA) found.push({ name, type, value: ipaddr.fromByteArray([...data]).toString() })
  }
  return found
}

/** What a message that answers a question says; throws where the server has failed, or what it says is no DNS. */
function read(message: Buffer, question: Buffer): DnsAnswer {
  const code = message.readUInt16BE(2) & CODE
  if (code !== 0 && code !== NXDOMAIN) throw new Error(`the server answers with code ${code}`)
  const records = recordsOf(message, question.length)
  const aliases: string[] = []
  let { name } = nameAt(question, HEADER_BYTES)
  for (let next: Found | undefined; aliases.length < ALIASES_MAX; aliases.push((name = next.value))) {
    next = records.find((record) => record.type === TYPES.CNAME && record.name === name)
    if (!next) break
  }
  const type = question.readUInt16BE(question.length - 4)
  const values =
    type === TYPES.CNAME ? aliases.slice(0, 1) : records.filter((one) => one.type === type && one.name === name).map(({ value }) => value)
  // Of a name that leads to another one, the code is about the other one.
  return { exists: code !== NXDOMAIN || aliases.length > 0, aliases, values }
}

interface Server {
  host: string
  port: number
}

/** A server as `address`, `address:port` or `[address]:port`. */
function serverOf(text: string): Server {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? []
  return { host: bracketed ?? plain ?? text, port: Number(port ?? 53) }
}

/** Runs a conversation that calls `end` once, with what has come; what takes longer than `ms` is given up. */
function within<T>(ms: number, converse: (end: (error: Error | null, value?: T) => void) => () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    let isOver = false
    const timer = setTimeout(() => end(new Error('no answer in time')), ms)
    const end = (error: Error | null, value?: T) => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      // What ends before it has begun is closed once it can be.
      queueMicrotask(() => close())
      if (error) reject(error)
      else resolve(value!)
    }
    const close = converse(end)
  })
}

const overUdp = ({ host, port }: Server, question: Buffer, ms: number) =>
  within<Buffer>(ms, (end) => {
    const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
    socket.on('error', end)
    // What does not answer the question may be of anybody: the answer may still come.
    socket.on('message', (message) => answers(question, message) && end(null, message))
    socket.connect(port, host, () => socket.send(question))
    return () => socket.close()
  })

const overTcp = ({ host, port }: Server, question: Buffer, ms: number) =>
  within<Buffer>(ms, (end) => {
    const socket = connect({ host, port })
    let got = Buffer.alloc(0)
    socket.on('error', end)
    socket.on('close', () => end(new Error('the server has hung up')))
    socket.on('connect', () => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(question.length)
      socket.write(Buffer.concat([length, question]))
    })
    socket.on('data', (more: Buffer) => {
      got = Buffer.concat([got, more])
      if (got.length < 2 || got.length < 2 + got.readUInt16BE(0)) return
      const message = got.subarray(2, 2 + got.readUInt16BE(0))
      if (answers(question, message)) end(null, message)
      else end(new Error('the server answers another question'))
    })
    return () => socket.destroy()
  })

async function askOne(server: Server, question: Buffer, ms: number): Promise<DnsAnswer> {
  const until = performance.now() + ms
  const message = await overUdp(server, question, ms)
  if (!(message.readUInt16BE(2) & TRUNCATED)) return read(message, question)
  return read(await overTcp(server, question, Math.max(1, until - performance.now())), question)
}

/** Asks servers in turn until one answers; throws when none has, for whatever reason. */
export async function askDns(servers: readonly string[], name: string, type: RecordType): Promise<DnsAnswer> {
  const question = questionFor(name, type)
  const asked = servers.slice(0, SERVERS_MAX).map(serverOf)
  let failure: unknown = new Error('there is no DNS server to ask')
  for (let turn = 0; turn < TRIES * asked.length; turn++) {
    try {
      return await askOne(asked[turn % asked.length]!, question, ANSWER_MS / (TRIES * asked.length))
    } catch (error) {
      failure = error
    }
  }
  throw failure
}
