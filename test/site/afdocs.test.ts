import { expect, test } from 'vitest'
import { openSite, ROOT } from './site.ts'

interface Result {
  id: string
  status: 'pass' | 'warn' | 'fail' | 'skip' | 'error'
  message: string
}

test('afdocs, which scores how well agents can read a site, finds nothing to mend', async () => {
  let site: Awaited<ReturnType<typeof openSite>> | undefined
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => site!.answer(request) })
  try {
    site = await openSite({ base: server.url.origin })
    // Each fourth page, not the sample that it would draw: what runs in CI finds the same each time.
    const urls = Object.keys(site.manifest.pages)
      .filter((path, n) => path !== '/search' && n % 4 === 0)
      .map((path) => server.url.origin + path)
    const command = [
      process.execPath,
      `${ROOT}/node_modules/.bin/afdocs`,
      'check',
      server.url.origin,
      '--format',
      'json',
      '--quiet',
      '--request-delay',
      '0',
      '--max-links',
      '1000',
      '--urls',
      urls.join(),
    ]
    const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' })
    const { results } = (await new Response(child.stdout).json()) as { results: Result[] }
    expect(results.length).toBeGreaterThan(20)
    // What does not apply is skipped: nothing here is behind a login.
    expect(results.filter(({ status }) => status !== 'pass').map(({ id, status, message }) => [id, status, message])).toEqual([
      ['auth-alternative-access', 'skip', expect.any(String)],
    ])
  } finally {
    await server.stop(true)
  }
}, 180_000)
