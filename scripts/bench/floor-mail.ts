/** The floor of newsletters: nodemailer alone, over as many connections, with a mail as long as Stoa's. Says how many a second. */
import { createTransport } from 'nodemailer'
import { MAILS_AT_ONCE } from '../../api/outside/mail.ts'

const [port, count, text, html] = [process.argv[2]!, Number(process.argv[3]), 'x'.repeat(500), 'x'.repeat(1_700)]
const transport = createTransport({
  url: `smtp://127.0.0.1:${port}`,
  pool: true,
  maxConnections: MAILS_AT_ONCE,
  maxMessages: 1_000,
} as never)
let next = 0
const started = performance.now()
await Promise.all(
  Array.from({ length: MAILS_AT_ONCE }, async () => {
    while (next < count) {
      const to = `floor${next++}@example.com`
      await transport.sendMail({ from: 'shop@shop.example', to, subject: 'Hello', text, html })
    }
  }),
)
transport.close()
console.log((count / (performance.now() - started)) * 1_000)
