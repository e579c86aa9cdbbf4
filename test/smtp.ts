/** A real SMTP server on loopback that keeps what it is sent, and refuses what it is told to. */
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'

export interface SmtpOptions {
  /** 0 takes a free port. */
  port?: number
  /** A reply code for a recipient, instead of taking the mail. */
  refuse?: (address: string) => number | undefined
  /** A reply code for the text of a mail to a recipient, once it is there. */
  refuseText?: (address: string) => number | undefined
  /** Waits before a mail is taken. */
  delayMs?: number
  /** Ends the connection once a mail's text is there, without a reply. */
  hangUpOn?: (address: string) => boolean
  /** Keeps the text of mails; recipients alone otherwise. */
  keep?: boolean
}

export interface Smtp {
  url: string
  port: number
  /** The recipients of taken mails, in their order. */
  taken: string[]
  mails(): Promise<Email[]>
  close(): Promise<void>
}

/** Starts one; `options` may be changed while it runs. */
export async function smtpServer(options: SmtpOptions = {}): Promise<Smtp> {
  const raw: Buffer[] = []
  const taken: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    logger: false,
    disableReverseLookup: true,
    onRcptTo({ address }, _, done) {
      const responseCode = options.refuse?.(address)
      done(responseCode ? Object.assign(new Error('not here'), { responseCode }) : null)
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => options.keep !== false && chunks.push(chunk))
      stream.on('end', async () => {
        const [to] = session.envelope.rcptTo
        if (options.hangUpOn?.(to!.address)) {
          for (const connection of (server as unknown as { connections: Set<{ _socket: { destroy(): void }; session: unknown }> })
            .connections)
            if (connection.session === session) connection._socket.destroy()
          return
        }
        const responseCode = options.refuseText?.(to!.address)
        if (responseCode) return done(Object.assign(new Error('not this'), { responseCode }))
        if (options.delayMs) await Bun.sleep(options.delayMs)
        taken.push(to!.address)
        raw.push(Buffer.concat(chunks))
        done()
      })
    },
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve))
  const { port } = server.server.address() as { port: number }
  return {
    url: `smtp://127.0.0.1:${port}`,
    port,
    taken,
    mails: () => Promise.all(raw.map((text) => PostalMime.parse(text))),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
