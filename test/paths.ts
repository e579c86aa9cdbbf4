/** Paths that no reader may take long for, for the tests of both servers. */

/** Paths made to keep whoever reads them busy, of about so many characters. */
export const HOSTILE: Record<string, (length: number) => string> = {
  slashes: (length) => '/'.repeat(length),
  'slashes before a name': (length) => `${'/'.repeat(length)}x`,
  'slashes after a name': (length) => `/docs${'/'.repeat(length)}`,
  'empty segments around a name': (length) => `//${'docs//'.repeat(length / 6)}…/`,
  dots: (length) => `/${'.'.repeat(length)}`,
  'ways up': (length) => `/${'../'.repeat(length / 3)}x`,
  escapes: (length) => `/${'%2f'.repeat(length / 3)}x`,
  'escapes of percent signs': (length) => `/${'%25'.repeat(length / 3)}`,
  'broken escapes': (length) => `/${'%'.repeat(length)}`,
  'one long segment': (length) => `/docs/${'a'.repeat(length)}`,
  'many segments': (length) => `${'/a'.repeat(length / 2)}`,
  suffixes: (length) => `/docs${'.html'.repeat(length / 5)}/`,
  'Markdown suffixes': (length) => `/docs${'.md'.repeat(length / 3)}x`,
  indexes: (length) => `${'/index'.repeat(length / 6)}x`,
  'nearly documents': (length) => `${'/api/docs'.repeat(length / 9)}/x`,
  words: (length) => `/docs/${'coupon-'.repeat(length / 7)}`,
  whitespace: (length) => `/${' \t'.repeat(length / 2)}x`,
}
/** Characters of a long one; a short one has a tenth. */
export const LONG = 100_000

/** The shortest time of some tries, in milliseconds; what is shorter than can be measured is one length. */
function shortest(work: () => unknown): number {
  const tries = Array.from({ length: 5 }, () => {
    const started = performance.now()
    work()
    return performance.now() - started
  })
  return Math.max(0.2, Math.min(...tries))
}

/**
 * How much longer `read` takes for a path ten times as long: ten times is what it should be, and a pattern that begins anew at each
 * character takes a hundred times, however often it is tried.
 */
export function growthOf(made: (length: number) => string, read: (path: string) => unknown): number {
  const [short, long] = [made(LONG / 10), made(LONG)]
  read(short)
  const growth = () => shortest(() => read(long)) / shortest(() => read(short))
  let least = growth()
  for (let again = 0; least >= 20 && again < 4; again++) least = Math.min(least, growth())
  return least
}
