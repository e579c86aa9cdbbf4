/** Asking DNS servers: what they say of a name, over UDP and TCP, and what is no answer. */
import { createSocket, type Socket } from 'node:dgram'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { askDns } from '../../api/outside/dns.ts'
import { testDns, type TestDns } from '../dns.ts'

let dns: TestDns
beforeAll(async () => {
  dns = await testDns()
  dns.hosts.set('shop.example', ['203.0.113.10', '203.0.113.11', '2001:db8::1'])
  dns.hosts.set('silent.example', [])
  dns.aliases.set('www.shop.example', 'shop.example').set('a.example', 'b.example').set('b.example', 'shop.example')
  dns.aliases.set('dangling.example', 'nowhere.example')
  dns.txt.set('_stoa.shop.example', ['short', 'x'.repeat(700), ''])
})
beforeEach(() => {
  Object.assign(dns, { mood: 'well', isTruncated: false, asked: [], askedOverTcp: [] })
})
afterAll(() => dns.close())
const ask = (...question: [string, 'A' | 'AAAA' | 'CNAME' | 'TXT']) => askDns([dns.address], ...question)

describe.each([
  ['UDP', false],
  ['TCP, since UDP cuts it off', true],
])('over %s', (_, isTruncated) => {
  beforeEach(() => {
    dns.isTruncated = isTruncated
  })

  test('a server says what there is, that there is none of the kind, and that there is no such name', async () => {
    expect(await ask('shop.example', 'A')).toEqual({ exists: true, aliases: [], values: ['203.0.113.10', '203.0.113.11'] })
    expect(await ask('SHOP.example', 'AAAA')).toEqual({ exists: true, aliases: [], values: ['2001:db8::1'] })
    expect(await ask('shop.example', 'CNAME')).toEqual({ exists: true, aliases: [], values: [] })
    expect(await ask('silent.example', 'A')).toEqual({ exists: true, aliases: [], values: [] })
    expect(await ask('nobody.example', 'A')).toEqual({ exists: false, aliases: [], values: [] })
    expect(await ask('_stoa.shop.example', 'TXT')).toEqual({ exists: true, aliases: [], values: ['short', 'x'.repeat(700), ''] })
    expect(dns.askedOverTcp.length).toBe(isTruncated ? dns.asked.length : 0)
  })

  test('names that lead to others are followed, and named', async () => {
    expect(await ask('www.shop.example', 'CNAME')).toEqual({ exists: true, aliases: ['shop.example'], values: ['shop.example'] })
    const through = { exists: true, aliases: ['b.example', 'shop.example'] }
    expect(await ask('a.example', 'A')).toEqual({ ...through, values: ['203.0.113.10', '203.0.113.11'] })
    // The name is there, what it leads to is not.
    expect(await ask('dangling.example', 'A')).toEqual({ exists: true, aliases: ['nowhere.example'], values: [] })
  })

  test('a failure of the server is none of these, and another server is asked', async () => {
    dns.mood = 'broken'
    await expect(ask('shop.example', 'A')).rejects.toThrow('code 2')
    const other = await testDns()
    other.hosts.set('shop.example', ['192.0.2.1'])
    expect((await askDns([dns.address, other.address], 'shop.example', 'A')).values).toEqual(['192.0.2.1'])
    other.close()
  })
})

describe('no answer', () => {
  test('within 5 s is given up, over TCP as well', async () => {
    dns.mood = 'silent'
    const started = performance.now()
    const overTcp = (async () => {
      const half = await testDns()
      half.isTruncated = true
      half.before = async () => {
        if (half.asked.length > half.askedOverTcp.length) return
        half.mood = 'silent'
      }
      await expect(askDns([half.address], 'shop.example', 'A')).rejects.toThrow('in time')
      half.close()
    })()
    await expect(ask('shop.example', 'A')).rejects.toThrow('in time')
    await overTcp
    expect(performance.now() - started).toBeGreaterThan(4_900)
    expect(performance.now() - started).toBeLessThan(5_600)
    expect(dns.asked.length).toBe(2)
  }, 10_000)

  test('comes where nobody listens, or no server is known, and a name that DNS can not have is not asked for', async () => {
    const started = performance.now()
    for (const server of ['127.0.0.1:9', '[::1]:9']) await expect(askDns([server], 'shop.example', 'A')).rejects.toThrow()
    expect(performance.now() - started).toBeLessThan(11_000)
    await expect(askDns([], 'shop.example', 'A')).rejects.toThrow('no DNS server')
    for (const name of ['', 'a..b', '.a', `${'a'.repeat(64)}.example`]) await expect(ask(name, 'A')).rejects.toThrow('no name')
    expect(dns.asked).toEqual([])
  }, 15_000)
})

/** A record that is not as it should be. */
interface Odd {
  type?: number
  data?: number[]
  length?: number
}

describe('packets that are no answers', () => {
  let socket: Socket
  let reply: (question: Buffer) => Buffer[]
  beforeAll(async () => {
    socket = createSocket('udp4')
    socket.on('message', (question, from) => {
      for (const packet of reply(question)) socket.send(packet, from.port, from.address)
    })
    await new Promise<void>((ready) => socket.bind(0, '127.0.0.1', ready))
  })
  afterAll(() => void socket.close())
  const asking = () => askDns([`127.0.0.1:${socket.address().port}`], 'shop.example', 'A')
  /** An answer of one record, which begins with `owner`. */
  const packet = (question: Buffer, owner: number[], { type = 1, data = [192, 0, 2, 1], length }: Odd = {}) => {
    const head = Buffer.from(question.subarray(0, 12))
    head.writeUInt16BE(0x8180, 2)
    head.writeUInt16BE(1, 6)
    const size = length ?? data.length
    const fixed = [0, type, 0, 1, 0, 0, 0, 60, size >> 8, size & 255]
    return Buffer.concat([head, question.subarray(12), Buffer.from([...owner, ...fixed, ...data])])
  }
  const right = (question: Buffer) => packet(question, [0xc0, 12])

  test('answers to other questions, or with another id, are passed over', async () => {
    reply = (question) => {
      const other = Buffer.from(right(question))
      other.writeUInt16BE((other.readUInt16BE(0) + 1) & 0xffff, 0)
      const elsewhere = Buffer.from(right(question))
      elsewhere[13] = 'x'.charCodeAt(0)
      const echo = Buffer.from(question)
      return [Buffer.alloc(0), Buffer.alloc(5), other, elsewhere, echo, right(question)]
    }
    expect((await asking()).values).toEqual(['192.0.2.1'])
  })

  test('records of names that nobody asked for do not count', async () => {
    reply = (question) => [packet(question, [4, ...Buffer.from('evil'), 0])]
    expect(await asking()).toEqual({ exists: true, aliases: [], values: [] })
    // A dot inside of a label makes no other name of it.
    reply = (question) => [packet(question, [12, ...Buffer.from('shop.example'), 0])]
    expect((await asking()).values).toEqual([])
  })

  test.each<[string, (question: Buffer) => Buffer]>([
    ['a pointer to itself', (question) => packet(question, [0xc0, question.length])],
    ['a pointer ahead', (question) => packet(question, [0xff, 0xff])],
    ['a name that goes round', (question) => packet(question, [1, 97, 0xc0, question.length])],
    ['a record that is cut off', (question) => packet(question, [0xc0, 12], { length: 400 })],
    ['an address of three octets', (question) => packet(question, [0xc0, 12], { data: [1, 2, 3] })],
    ['an alias without an end', (question) => packet(question, [0xc0, 12], { type: 5, data: [63] })],
    ['a label of a kind that there is not', (question) => packet(question, [0x80, 12])],
    ['a pointer into the head, whose id may look like a name', (question) => packet(question, [0xc0, 1])],
    [
      'more records than there are',
      (question) => Buffer.concat([right(question).subarray(0, 7), Buffer.from([9]), right(question).subarray(8)]),
    ],
  ])('%s fails at once', async (_, make) => {
    reply = (question) => [make(question)]
    const started = performance.now()
    await expect(asking()).rejects.toThrow()
    expect(performance.now() - started).toBeLessThan(1_000)
  })

  test('aliases that go round end', async () => {
    reply = (question) => [packet(question, [0xc0, 12], { type: 5, data: [0xc0, 12] })]
    expect((await asking()).aliases.length).toBe(16)
  })

  test('whatever bytes come, it ends', async () => {
    let state = 20_260_301
    const random = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below
    for (let i = 0; i < 500; i++) {
      reply = (question) => {
        const bytes = right(question)
        for (let n = 0; n < 3; n++) bytes[question.length + random(bytes.length - question.length)] = random(256)
        return [bytes]
      }
      await asking().catch(() => {})
    }
  })
})
