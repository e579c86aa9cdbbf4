/** Outbound mail: through an SMTP server, or into files where none is configured and for sandboxes. */
import { mkdirSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SendMailOptions, Transporter } from 'nodemailer'
import type { Environment } from '../../db/open.ts'

/** A file that goes with a mail; with a `contentId` it is a picture of its HTML (`cid:…`). */
export interface Attachment {
  filename: string
  type: string
  content: Uint8Array
  contentId?: string
}

/** One mail to one person. */
export interface Mail {
  from: { name: string; address: string }
  replyTo?: string
  to: { name: string; address: string }
  subject: string
  text: string
  html: string
  headers?: Record<string, string>
  attachments?: readonly Attachment[]
  /** Unique for ever: becomes the Message-ID, and the name of the file. */
  id: string
}

/**
 * What came of a mail that was not taken: `refused` for good, `deferred` (try this recipient again later), `broken` (nothing can be
 * sent now, and this mail was not), `unknown` (the connection ended when it may have been taken).
 */
export class MailError extends Error {
  constructor(
    readonly outcome: 'refused' | 'deferred' | 'broken' | 'unknown',
    message: string,
  ) {
    super(message)
  }

  /** What a merchant may read of it: what was said about their mail, and nothing of where the server is. */
  get told(): string {
    if (this.outcome === 'refused' || this.outcome === 'deferred') return this.message
    return this.outcome === 'broken' ? 'the mail server took nothing' : 'the connection to the mail server ended while it was on its way'
  }
}

/** Sends mails, several at once; resolves when one is taken, throws a `MailError` when it is not. */
export interface Mailer {
  send(mail: Mail): Promise<void>
  close(): void
}

/** Mails that are sent at once: so many are in flight when a process dies. */
export const MAILS_AT_ONCE = 8

const CONNECT_MS = 10_000
const SILENCE_MS = 30_000

/** Bytes of text in one encoded word (RFC 2047): a line of mail is short. */
const WORD_BYTES = 45

/** A subject that looks encoded already would be decoded into something else by its reader: so that one is encoded. */
function encodedSubject(subject: string): string | null {
  if (!subject.includes('=?') || /[^\x20-\x7e]/.test(subject)) return null
  const words = subject.match(new RegExp(`.{1,${WORD_BYTES}}`, 'g'))!
  return words.map((word) => `=?UTF-8?B?${btoa(word)}?=`).join('\r\n ')
}

function messageOf({ id, from, subject, headers = {}, attachments = [], ...mail }: Mail): SendMailOptions {
  const encoded = encodedSubject(subject)
  return {
    ...mail,
    from,
    attachments: attachments.map(({ filename, type, content, contentId }) => ({
      ...{ filename, contentType: type, content: Buffer.from(content) },
      ...(contentId === undefined ? {} : { cid: contentId, contentDisposition: 'inline' as const }),
    })),
    messageId: `<${id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
    ...(encoded === null ? { subject, headers } : { headers: { ...headers, Subject: { prepared: true, value: encoded } } }),
  }
}

interface SmtpError extends Error {
  code?: string
  command?: string
  responseCode?: number
  syscall?: string
  timeoutType?: string
}

/** Whether an error came before any text of the mail was on its way. */
const isBeforeData = ({ code = '', command = '', syscall = '', timeoutType = '', message }: SmtpError) =>
  /^(EHLO|HELO|LHLO|STARTTLS|AUTH.*|MAIL FROM|RCPT TO)$/.test(command) ||
  /^(connect|getaddrinfo)$/.test(syscall) ||
  /^(EDNS|EAUTH|ETLS)$/.test(code) ||
  /^(CONNECTION|GREETING)_TIMEOUT$/.test(timeoutType) ||
  // What nodemailer says of a connection that is closed before it is greeted.
  message.includes('retries after connection was closed')

/** The mail error for an error of nodemailer: `refused` or `deferred` when it is about the mail, else `broken` or `unknown`. */
export function mailErrorOf(error: SmtpError): MailError {
  const { responseCode = 0, command = '', message } = error
  const text = message.slice(0, 300)
  const isAboutMail = command === 'RCPT TO' || command === 'DATA'
  if (responseCode >= 500 && isAboutMail) return new MailError('refused', text)
  if (responseCode >= 400 && responseCode !== 421 && isAboutMail) return new MailError('deferred', text)
  return new MailError(responseCode > 0 || isBeforeData(error) ? 'broken' : 'unknown', text)
}

/** Mails through an SMTP server, over a few connections that are kept. */
export async function smtpMailer(url: string): Promise<Mailer> {
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: MAILS_AT_ONCE,
    maxMessages: 1_000,
    // A mail that may have been taken is never sent again by itself.
    maxRequeues: 0,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  }) as Transporter
  return {
    async send(mail) {
      try {
        await transport.sendMail(messageOf(mail))
      } catch (error) {
        throw mailErrorOf(error as SmtpError)
      }
    },
    close: () => transport.close(),
  }
}

/** Mails as `.eml` files in a folder, each named after its id. */
export async function fileMailer(folder: string): Promise<Mailer> {
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    streamTransport: true,
    buffer: true,
    newline: 'windows',
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  mkdirSync(folder, { recursive: true })
  return {
    async send(mail) {
      const { message } = await transport.sendMail(messageOf(mail))
      const path = join(folder, `${mail.id}.eml`)
      try {
        await writeFile(`${path}.part`, message as Buffer)
        await rename(`${path}.part`, path)
      } catch (error) {
        throw new MailError('broken', `${folder} can't be written: ${(error as Error).message}`)
      }
    },
    close: () => transport.close(),
  }
}

/** Outbound mail, by environment: a sandbox never sends real mail. */
export interface Mailers {
  open(environment: Environment): Promise<Mailer>
  /** The public URL of this server, without a slash at the end: where the links of mails lead, and who sends those of stores without a domain. */
  baseUrl: string
}

/** Where mails are written that are not sent. */
export const mailFolder = (dataDir: string) => join(dataDir, 'mail')

/** The mailers of a configuration. */
export const mailersFor = ({ smtpUrl, dataDir }: { smtpUrl: string | null; dataDir: string }, baseUrl: string): Mailers => ({
  open: (environment) => (smtpUrl !== null && environment === 'live' ? smtpMailer(smtpUrl) : fileMailer(mailFolder(dataDir))),
  baseUrl,
})
