/** nginx with one worker over a folder, plain: no negotiation, no compression, types by map. What serving files can cost. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Nginx {
  port: number
  stop(): Promise<void>
}

/** Starts it over `root`; it is there when it answers `path`. Null where there is no nginx. */
export async function startNginx(root: string, path: string): Promise<Nginx | null> {
  if (!Bun.which('nginx')) return null
  const folder = mkdtempSync(join(tmpdir(), 'stoa-nginx-'))
  const free = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const port = free.port!
  await free.stop(true)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder};`).join(' ')
  const user = process.getuid?.() === 0 ? 'user root; ' : ''
  writeFileSync(
    join(folder, 'nginx.conf'),
    `${user}daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error crit;
events { worker_connections 512; }
http { types { text/html html; text/markdown md txt; application/json json; text/css css; } default_type text/markdown;
access_log off; etag on; sendfile on; tcp_nopush on; keepalive_requests 1000000; open_file_cache max=10000; open_file_cache_valid 60s; ${temporary}
server { listen 127.0.0.1:${port}; root ${root}; location / { try_files $uri $uri.html =404; } } }`,
  )
  const child = Bun.spawn(['nginx', '-c', join(folder, 'nginx.conf'), '-p', folder], { stdout: 'ignore', stderr: 'ignore' })
  const stop = async () => {
    child.kill()
    await child.exited
    rmSync(folder, { recursive: true, force: true })
  }
  for (let i = 0; i < 100; i++) {
    const isUp = await fetch(`http://127.0.0.1:${port}${path}`).then(
      (answer) => answer.ok,
      () => false,
    )
    if (isUp) return { port, stop }
    await Bun.sleep(50)
  }
  await stop()
  throw new Error('nginx did not start')
}
