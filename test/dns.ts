/** A DNS server on loopback for tests: answers TXT questions from a map, with real packets. */
import { createSocket } from 'node:dgram'

export interface TestDns {
  /** `address:port`, as `dnsServers` takes it. */
  address: string
  /** Texts by name; a name that is missing does not exist (NXDOMAIN). Each text is sent in parts of at most 255 bytes. */
  txt: Map<string, string[]>
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

/** A TXT record whose name points back at the question's (RFC 1035, 3.2.1 and 4.1.4). */
function record(text: string): Buffer {
  const data = parts(text)
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(16, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt32BE(60, 6)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

export async function testDns(): Promise<TestDns> {
  const socket = createSocket('udp4')
  const dns: TestDns = { address: '', txt: new Map(), mood: 'well', asked: [], close: () => socket.close() }
  socket.on('message', async (message, from) => {
    const labels: string[] = []
    let at = 12
    for (; message[at] !== 0; at += message[at]! + 1) labels.push(message.toString('utf8', at + 1, at + 1 + message[at]!))
    const name = labels.join('.').toLowerCase()
    dns.asked.push(name)
    await dns.before?.()
    if (dns.mood === 'silent') return
    const texts = dns.mood === 'broken' ? undefined : dns.txt.get(name)
    const head = Buffer.alloc(12)
    message.copy(head, 0, 0, 2)
    head.writeUInt16BE(0x8180 | (texts ? 0 : dns.mood === 'broken' ? SERVFAIL : NXDOMAIN), 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(texts?.length ?? 0, 6)
    socket.send(Buffer.concat([head, message.subarray(12, at + 5), ...(texts ?? []).map(record)]), from.port, from.address)
  })
  await new Promise<void>((ready) => socket.bind(0, '127.0.0.1', ready))
  dns.address = `127.0.0.1:${socket.address().port}`
  return dns
}
