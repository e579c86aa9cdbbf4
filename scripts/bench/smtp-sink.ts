/** A mail server that takes everything and keeps nothing but who it was for. */
import type { Socket } from 'bun'

interface Session {
  text: string
  inData: boolean
  to: string
}

const END_OF_MAIL = '\r\n.\r\n'

export interface Sink {
  port: number
  /** How often each recipient was sent something. */
  taken: Map<string, number>
  stop(): void
}

/** Takes what a client has said so far, and answers it. */
function take(socket: Socket<Session>, taken: Map<string, number>) {
  const { data } = socket
  for (;;) {
    const end = data.inData ? data.text.indexOf(END_OF_MAIL) : data.text.indexOf('\r\n')
    if (end < 0) {
      // Of a mail that is still coming only the end matters.
      if (data.inData) data.text = data.text.slice(-(END_OF_MAIL.length - 1))
      return
    }
    const line = data.text.slice(0, end)
    data.text = data.text.slice(end + (data.inData ? END_OF_MAIL.length : 2))
    if (data.inData) {
      data.inData = false
      taken.set(data.to, (taken.get(data.to) ?? 0) + 1)
      socket.write('250 taken\r\n')
    } else if (/^DATA/i.test(line)) {
      data.inData = true
      data.text = `\r\n${data.text}`
      socket.write('354 go on\r\n')
    } else if (/^QUIT/i.test(line)) {
      socket.end('221 bye\r\n')
    } else {
      data.to = /^RCPT TO:<([^>]*)>/i.exec(line)?.[1] ?? data.to
      socket.write('250 ok\r\n')
    }
  }
}

/** Listens on a free port. */
export function smtpSink(): Sink {
  const taken = new Map<string, number>()
  const listener = Bun.listen<Session>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        socket.data = { text: '', inData: false, to: '' }
        socket.write('220 sink\r\n')
      },
      data(socket, chunk) {
        socket.data.text += chunk.toString('latin1')
        take(socket, taken)
      },
    },
  })
  return { port: listener.port, taken, stop: () => listener.stop(true) }
}
