import { describe, expect, test } from 'vitest'
import { readBytes } from '../../api/http/input/bytes.ts'
import { Refusal } from '../../api/values/refusal.ts'

const bounds = { maxBytes: 1_000_000, tooLarge: () => new Refusal(413, 'too large'), share: 'a store', deadlineMs: 5_000 }

/** A request whose body brings a piece each `everyMs`, and ends after `pieces` of them; `null`: never. */
function arriving(pieceBytes: number, everyMs: number, pieces: number | null, headers: Record<string, string> = {}) {
  let sent = 0
  const body = new ReadableStream({
    async pull(controller) {
      await Bun.sleep(everyMs)
      if (pieces !== null && sent++ >= pieces) return controller.close()
      controller.enqueue(new Uint8Array(pieceBytes))
    },
  })
  return new Request('http://localhost/', { method: 'POST', body, headers, duplex: 'half' } as never)
}
const refusal = async (reading: Promise<unknown>): Promise<Refusal> => (await reading.catch((error) => error)) as Refusal

describe('the body of a request', () => {
  test('is read whole', async () => {
    expect((await readBytes(arriving(1_000, 0, 100), bounds)).byteLength).toBe(100_000)
    expect((await readBytes(new Request('http://localhost/', { method: 'POST' }), bounds)).byteLength).toBe(0)
  })

  test('is refused when it comes in pieces that are too small', async () => {
    const { status, headers } = await refusal(readBytes(arriving(1, 0, 100_000), bounds))
    expect([status, headers]).toEqual([400, { connection: 'close' }])
    expect((await readBytes(arriving(1, 0, 900), bounds)).byteLength).toBe(900)
    expect((await readBytes(arriving(100, 0, 3_000), bounds)).byteLength).toBe(300_000)
  })

  test('is refused with 408 when it takes longer than it may, whether it says how long it is or not', async () => {
    for (const headers of [{}, { 'content-length': '50000' }, { 'content-length': '500000' }]) {
      const { status, headers: answered } = await refusal(
        readBytes(arriving(20_000, 100, null, headers as never), { ...bounds, deadlineMs: 150 }),
      )
      expect([status, answered]).toEqual([408, { connection: 'close' }])
    }
  })

  test('is refused with 408 when nothing more of it arrives, or next to nothing', async () => {
    for (const request of [arriving(1_000, 10, null), arriving(1, 60_000, null)])
      expect((await refusal(readBytes(request, { ...bounds, progressMs: 100 }))).status).toBe(408)
    expect((await readBytes(arriving(20_000, 10, 20), { ...bounds, progressMs: 300 })).byteLength).toBe(400_000)
  })
})
