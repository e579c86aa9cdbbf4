/** Paths that a form may send its visitor back to: on the same host, whatever it says. */

/** A path with its query, or null for what leads, or could be read to lead, to another host. */
export function localPath(text: string | undefined): string | null {
  if (!text || text.length > 2_048 || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text) || text.includes('\\')) return null
  const url = URL.parse(text, 'http://shop.invalid')
  return url?.origin === 'http://shop.invalid' && url.pathname.startsWith('/') && !url.pathname.startsWith('//')
    ? url.pathname + url.search
    : null
}
