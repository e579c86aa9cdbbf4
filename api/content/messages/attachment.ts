/** Files that go with a message: images, made anew, and PDF; kept beside the media, and served to those alone who may read the message. */
import { and, eq } from 'drizzle-orm'
import { attachedFiles, supportMessages, type AttachedFile } from '../../../db/store/visitors.ts'
import type { Db, Reader } from '../../../db/driver.ts'
import { Reply, type Call, type Upload } from '../../http/route.ts'
import type { Owner } from '../../outside/files.ts'
import { requireRoom } from '../../store/room.ts'
import { missing, wrong } from '../../values/refusal.ts'
import { imageOf, NoImage } from '../media/image.ts'

export const ATTACHMENT_MAX_BYTES = 10 * 1_048_576
/** The file of an attachment, below its id; no path of the CDN has such a name. */
const FILE = 'attachment'

const EXTENSIONS: Record<string, string> = {
  'application/pdf': 'pdf',
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/gif': 'gif',
}

/** What a file is called: as it was, but that its end says what it is, and nothing in it turns the line around. */
function nameOf(given: string | null, type: string) {
  const line = (given ?? '')
    .split(/[/\\]/)
    .at(-1)!
    .replace(/[\p{Cc}\p{Cf}"]/gu, ' ')
    .replace(/\.[^.\s]{0,10}$/, '')
    .trim()
  return `${[...line].slice(0, 190).join('') || 'file'}.${EXTENSIONS[type]}`
}

/** The bytes as they are kept, and what they are; refuses what is neither an image nor a PDF. */
async function safe({ bytes, name }: Upload): Promise<{ bytes: Uint8Array; type: string; name: string }> {
  // The file's own word for it: names and headers can say anything.
  if (new TextDecoder('latin1').decode(bytes.subarray(0, 5)) === '%PDF-')
    return { bytes, type: 'application/pdf', name: nameOf(name, 'application/pdf') }
  try {
    const { type, files } = await imageOf(bytes)
    return { bytes: files[0]!.bytes, type, name: nameOf(name, type) }
  } catch (error) {
    throw error instanceof NoImage
      ? wrong('file', error.message.startsWith('must be') ? `${error.message}, or a PDF` : error.message)
      : error
  }
}

type KeepCall = Pick<Call, 'services' | 'clock' | 'undo' | 'file' | 'db'>

/** Keeps the file of a request, before there is a row for it; null when it has none. */
export async function keepAttachment(call: KeepCall, owner: Owner): Promise<AttachedFile | null> {
  const { file, services, clock } = call
  if (!file) return null
  await requireRoom({ registry: services.registry, db: call.db, owner })
  const { bytes, type, name } = await safe(file)
  const id = clock.id()
  await services.files.keep(owner, id, [{ name: FILE, bytes }])
  call.undo(() => services.files.remove(owner, id))
  return { id, name, type, size: bytes.length }
}

/** Notes the files of a message, so that nobody takes them for what a crash has left. */
export async function noteFiles(tx: Db, messageId: string, files: readonly AttachedFile[]) {
  if (files.length) await tx.insert(attachedFiles).values(files.map(({ id, size }) => ({ id, messageId, bytes: size })))
}

/** A file of a case by its id. */
export async function findAttachment(db: Reader, caseId: string, id: string): Promise<AttachedFile | undefined> {
  const [row] = await db
    .select({ files: supportMessages.attachments })
    .from(attachedFiles)
    .innerJoin(supportMessages, eq(supportMessages.id, attachedFiles.messageId))
    .where(and(eq(attachedFiles.id, id), eq(supportMessages.caseId, caseId)))
  return row?.files.find((file) => file.id === id)
}

/** An attachment as it is sent: never shown by a browser as a page of this host. */
export async function serveAttachment({ services }: Pick<Call, 'services'>, owner: Owner, file: AttachedFile | undefined) {
  const kept = file && (await services.files.read(owner, file.id, FILE))
  if (!kept) throw missing('attachment')
  // Kept once, and never changed: its id says which bytes they are.
  const name = file.name.replace(/[^\x20-\x7e]/g, '_')
  return new Reply(200, kept.body, {
    'content-type': file.type,
    etag: `"${file.id}"`,
    'content-disposition': `attachment; filename="${name}"; filename*=UTF-8''${encodeURIComponent(file.name)}`,
    'cache-control': 'private, no-store',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  })
}
