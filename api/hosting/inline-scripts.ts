/** Scripts that stand in pages: a Content-Security-Policy names each by its hash. */

/** The hashes of the scripts that stand in a page; data blocks are no scripts. */
export function inlineScripts(html: Buffer): string[] {
  const hashes: string[] = []
  // Found as bytes: most of a page is never made text.
  for (let at = html.indexOf('<script'); at >= 0; at = html.indexOf('<script', at + 1)) {
    const [opened, closed] = [html.indexOf('>', at) + 1, html.indexOf('</script>', at)]
    if (/\bsrc=|ld\+json/.test(html.toString('latin1', at, opened))) continue
    hashes.push(`'sha256-${new Bun.CryptoHasher('sha256').update(html.subarray(opened, closed)).digest('base64')}'`)
  }
  return hashes
}
