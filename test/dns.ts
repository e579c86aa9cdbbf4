/** A DNS server on loopback for tests: answers questions for texts, addresses and aliases from maps, with real packets over UDP and TCP. */
import { createSocket, type Socket } from 'node:dgram'
import { createServer, type Server } from 'node:net'
import ipaddr from 'ipaddr.js'

export interface TestDns {
  /** `address:port`, as `dnsServers` takes it. */
  address: string
  /** Texts by name; a name that is missing does not exist (NXDOMAIN). Each text is sent in parts of at most 255 bytes. */
  txt: Map<string, string[]>
  /** IP addresses by name, of either family. Those of a list of lists are given in turn: a name that changes its mind. */
  hosts: Map<string, string[] | string[][]>
  /** Names that lead to another one (CNAME). */
  aliases: Map<string, string>
  /** Names of which the server knows nothing to say (SERVFAIL). */
  broken: Set<string>
  /** Over UDP no answer fits: each is to be asked for again over TCP. */
  isTruncated: boolean
  /** `silent` answers nothing, `broken` answers SERVFAIL. */
  mood: 'well' | 'silent' | 'broken'
  /** Names that were asked for, over UDP and over TCP. */
  asked: string[]
  askedOverTcp: string[]
  /** Runs before each answer. */
  before?: () => Promise<void>
  close(): void
}

const NXDOMAIN = 3
const SERVFAIL = 2

function parts(text: string): Buffer {
  const bytes = Buffer.from(text)
  const all: Buffer[] = []
  for (let at = 0; at < bytes.length; at += 255) {
    const part = bytes.subarray(at, at + 255)
    all.push(Buffer.from([part.length]), part)
  }
  return Buffer.concat(all)
}

const TRUNCATED = 0x0200
const [A, CNAME, TXT, AAAA] = [1, 5, 16, 28]

/** The octets of an IP address. */
const octets = (address: string) => Buffer.from(ipaddr.parse(address).toByteArray())
/** A name in labels, as packets have it. */
const encoded = (name: string) =>
  Buffer.concat([...name.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]), Buffer.from([0])])
/** Points back at the name of the question (RFC 1035, 4.1.4). */
const ASKED = Buffer.from([0xc0, 0x0c])

/** A record (RFC 1035, 3.2.1). */
function record(owner: Buffer, type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(10)
  head.writeUInt16BE(type, 0)
  head.writeUInt16BE(1, 2)
  head.writeUInt32BE(60, 4)
  head.writeUInt16BE(data.length, 8)
  return Buffer.concat([owner, head, data])
}

/** What there is of a type under a name, and whether the name that it leads to exists. */
interface Known {
  records: Buffer[]
  exists: boolean
}

/** The records of a type under a name, and of what it leads to, as a resolver gives them. */
function recordsOf(dns: TestDns, turns: Map<string, number>, name: string, type: number, owner = ASKED): Known {
  const target = dns.aliases.get(name)
  if (target !== undefined) {
    const alias = record(owner, CNAME, encoded(target))
    if (type === CNAME) return { records: [alias], exists: true }
    const { records, exists } = recordsOf(dns, turns, target, type, encoded(target))
    return { records: [alias, ...records], exists }
  }
  if (type === TXT) {
    const texts = dns.txt.get(name)
    return { records: (texts ?? []).map((text) => record(owner, TXT, parts(text))), exists: texts !== undefined }
  }
  const known = dns.hosts.get(name)
  if (!known) return { records: [], exists: false }
  const turn = turns.get(`${name} ${type}`) ?? 0
  turns.set(`${name} ${type}`, turn + 1)
  const addresses = (Array.isArray(known[0]) ? (known[Math.min(turn, known.length - 1)] as string[]) : known) as string[]
  const length = type === A ? 4 : type === AAAA ? 16 : 0
  const records = addresses
    .map(octets)
    .filter((data) => data.length === length)
    .map((data) => record(owner, type, data))
  return { records, exists: true }
}

/** The answer to a packet; null while the server is silent. */
async function answerTo(dns: TestDns, turns: Map<string, number>, message: Buffer, isTcp: boolean): Promise<Buffer | null> {
  const labels: string[] = []
  let at = 12
  for (; message[at] !== 0; at += message[at]! + 1) labels.push(message.toString('utf8', at + 1, at + 1 + message[at]!))
  const name = labels.join('.').toLowerCase()
  ;(isTcp ? dns.askedOverTcp : dns.asked).push(name)
  await dns.before?.()
  if (dns.mood === 'silent') return null
  const isBroken = dns.mood === 'broken' || dns.broken.has(name)
  const isShort = dns.isTruncated && !isTcp
  const { records, exists } = recordsOf(dns, turns, name, message.readUInt16BE(at + 1))
  const sent = isBroken || isShort ? [] : records
  const head = Buffer.alloc(12)
  message.copy(head, 0, 0, 2)
  head.writeUInt16BE(0x8180 | (isBroken ? SERVFAIL : isShort ? TRUNCATED : exists ? 0 : NXDOMAIN), 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(sent.length, 6)
  return Buffer.concat([head, message.subarray(12, at + 5), ...sent])
}

/** The part of the server that answers over TCP: each packet has its length before it. */
const overTcp = (answer: (message: Buffer) => Promise<Buffer | null>): Server =>
  createServer((socket) => {
    let got = Buffer.alloc(0)
    socket.on('error', () => {})
    socket.on('data', async (more: Buffer) => {
      got = Buffer.concat([got, more])
      while (got.length >= 2 && got.length >= 2 + got.readUInt16BE(0)) {
        const message = got.subarray(2, 2 + got.readUInt16BE(0))
        got = got.subarray(2 + message.length)
        const answered = await answer(message)
        if (!answered) return
        const length = Buffer.alloc(2)
        length.writeUInt16BE(answered.length)
        socket.write(Buffer.concat([length, answered]))
      }
    })
  })

const PORT_TRIES = 20

/** Listens with both on one port, which the system chooses for the first. */
async function listening(udp: () => Socket, tcp: Server): Promise<Socket> {
  for (let i = 0; i < PORT_TRIES; i++) {
    const socket = udp()
    await new Promise<void>((ready) => socket.bind(0, '127.0.0.1', ready))
    const isFree = await new Promise<boolean>((tell) => {
      tcp.once('error', () => tell(false))
      tcp.listen(socket.address().port, '127.0.0.1', () => tell(true))
    })
    if (isFree) return socket
    socket.close()
  }
  throw new Error('no port is free for UDP and TCP')
}

export async function testDns(): Promise<TestDns> {
  const turns = new Map<string, number>()
  const tcp = overTcp((message) => answerTo(dns, turns, message, true))
  const dns: TestDns = {
    address: '',
    txt: new Map(),
    hosts: new Map(),
    aliases: new Map(),
    broken: new Set(),
    isTruncated: false,
    mood: 'well',
    asked: [],
    askedOverTcp: [],
    close() {
      socket.close()
      tcp.close()
    },
  }
  const udp = () => {
    const made = createSocket('udp4')
    made.on('message', async (message, from) => {
      const answered = await answerTo(dns, turns, message, false)
      if (answered) made.send(answered, from.port, from.address)
    })
    return made
  }
  const socket = await listening(udp, tcp)
  dns.address = `127.0.0.1:${socket.address().port}`
  return dns
}
