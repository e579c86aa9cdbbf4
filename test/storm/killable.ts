/** A server in a process of its own, over a data folder, that a test kills and starts again at the same port. */
export interface Killable {
  /** Where it listens. */
  url: string
  start(): Promise<void>
  /** SIGKILL: it gets no chance to put anything right. */
  kill(): Promise<void>
}

export function killable(folder: string): Killable {
  let child: Bun.Subprocess<'ignore', 'pipe', 'inherit'> | undefined
  const server: Killable = {
    url: '',
    start() {
      const { PATH } = process.env
      const port = server.url ? new URL(server.url).port : '0'
      child = Bun.spawn([process.execPath, 'api/main.ts'], {
        env: { PATH, DATA_DIR: folder, API_PORT: port, RATE_LIMIT: '0', LOG: 'warn' },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'inherit',
      })
      const { stdout } = child
      // Read to its end: a server whose output nobody takes ends when it writes a warning.
      return new Promise((resolve, reject) => {
        void (async () => {
          let out = ''
          for await (const chunk of stdout) {
            out += new TextDecoder().decode(chunk)
            server.url = /http:\/\/[^\s/]+/.exec(out)?.[0] ?? server.url
            if (out.includes('Store API')) resolve()
          }
          reject(new Error(`the server ended before it listened: ${out}`))
        })()
      })
    },
    async kill() {
      child?.kill('SIGKILL')
      await child?.exited
    },
  }
  return server
}
