/** A DNS server on loopback for tests: answers questions for texts and addresses from maps, with real packets. */
import { createSocket } from 'node:dgram'
import ipaddr from 'ipaddr.js'

export interface TestDns {
  /** `address:port`, as `dnsServers` takes it. */
  address: string
  /** Texts by name; a name that is missing does not exist (NXDOMAIN). Each text is sent in parts of at most 255 bytes. */
  txt: Map<string, string[]>
  /** IP addresses by name, of either family. Those of a list of lists are given in turn: a name that changes its mind. */
  hosts: Map<string, string[] | string[][]>
  /** `silent` answers nothing, `broken` answers SERVFAIL. */
  mood: 'well' | 'silent' | 'broken'
  /** Names that were asked for. */
  asked: string[]
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

const [A, TXT, AAAA] = [1, 16, 28]

/** The octets of an IP address. */
const octets = (address: string) => Buffer.from(ipaddr.parse(address).toByteArray())

/** A record whose name points back at the question's (RFC 1035, 3.2.1 and 4.1.4). */
function record(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt32BE(60, 6)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

/** What there is of a type under a name; undefined for a name that does not exist. */
function recordsOf({ txt, hosts }: TestDns, turns: Map<string, number>, name: string, type: number): Buffer[] | undefined {
  if (type === TXT) return txt.get(name)?.map((text) => record(TXT, parts(text)))
  const known = hosts.get(name)
  if (!known) return undefined
  const turn = turns.get(`${name} ${type}`) ?? 0
  turns.set(`${name} ${type}`, turn + 1)
  const addresses = (Array.isArray(known[0]) ? (known[Math.min(turn, known.length - 1)] as string[]) : known) as string[]
  const length = type === A ? 4 : type === AAAA ? 16 : 0
  return addresses
    .map(octets)
    .filter((data) => data.length === length)
    .map((data) => record(type, data))
}

export async function testDns(): Promise<TestDns> {
  const socket = createSocket('udp4')
  const turns = new Map<string, number>()
  const dns: TestDns = { address: '', txt: new Map(), hosts: new Map(), mood: 'well', asked: [], close: () => socket.close() }
  socket.on('message', async (message, from) => {
    const labels: string[] = []
    let at = 12
    for (; message[at] !== 0; at += message[at]! + 1) labels.push(message.toString('utf8', at + 1, at + 1 + message[at]!))
    const name = labels.join('.').toLowerCase()
    dns.asked.push(name)
    await dns.before?.()
    if (dns.mood === 'silent') return
    const type = message.readUInt16BE(at + 1)
    const found = dns.mood === 'broken' ? undefined : recordsOf(dns, turns, name, type)
    const head = Buffer.alloc(12)
    message.copy(head, 0, 0, 2)
    head.writeUInt16BE(0x8180 | (found ? 0 : dns.mood === 'broken' ? SERVFAIL : NXDOMAIN), 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(found?.length ?? 0, 6)
    socket.send(Buffer.concat([head, message.subarray(12, at + 5), ...(found ?? [])]), from.port, from.address)
  })
  await new Promise<void>((ready) => socket.bind(0, '127.0.0.1', ready))
  dns.address = `127.0.0.1:${socket.address().port}`
  return dns
}
