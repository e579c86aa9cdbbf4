/** The library that decodes and draws pictures: native code that works beside the event loop. */

export type SharpLibrary = typeof import('sharp').default
let loading: Promise<SharpLibrary> | undefined

async function loaded(): Promise<SharpLibrary> {
  const { default: sharp } = await import('sharp')
  // No image comes twice; and requests need a core, too.
  sharp.cache(false)
  sharp.concurrency(1)
  return sharp
}

/** Loaded at its first use, since it costs every start 40 ms. */
export const loadSharp = (): Promise<SharpLibrary> => (loading ??= loaded())
