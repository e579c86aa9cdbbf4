/** Pictures for tests, and forms that carry them. */
import { deflateSync } from 'node:zlib'
import sharp from 'sharp'

/** A picture of one color. */
export const picture = (width = 60, height = 40, background = '#336699') =>
  sharp({ create: { width, height, channels: 3, background }, limitInputPixels: false })

export const png = async (width?: number, height?: number) => new Uint8Array(await picture(width, height).png().toBuffer())

/** An animation of three frames. */
export async function animation(width = 50, height = 30): Promise<Uint8Array> {
  const frames = await Promise.all(['#f00', '#0f0', '#00f'].map((color) => picture(width, height, color).png().toBuffer()))
  return new Uint8Array(
    await sharp(frames, { join: { animated: true } })
      .gif()
      .toBuffer(),
  )
}

/** A form with a file and text fields, as an upload sends it. */
export function form(bytes: Uint8Array | string, fields: Record<string, string> = {}, { name = 'picture.png', type = 'image/png' } = {}) {
  const data = new FormData()
  for (const [field, value] of Object.entries(fields)) data.append(field, value)
  data.append('file', new Blob([bytes as Uint8Array<ArrayBuffer>], { type }), name)
  return data
}

/** A square PNG with one bit for each pixel: huge when decoded, small as a file. */
export async function blankPng(side: number): Promise<Uint8Array> {
  const chunk = (type: string, data: Uint8Array) => {
    const bytes = Buffer.alloc(12 + data.length)
    bytes.writeUInt32BE(data.length)
    bytes.write(type, 4, 'latin1')
    bytes.set(data, 8)
    bytes.writeUInt32BE(Bun.hash.crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length)
    return bytes
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(side)
  header.writeUInt32BE(side, 4)
  header[8] = 1
  const rows = Buffer.alloc(side * (1 + Math.ceil(side / 8)))
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return new Uint8Array(Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]))
}
