/** `stoa doctor`: whether everything that Stoa needs is there, and what to do where it is not. */
import { existsSync, statfsSync, statSync } from 'node:fs'
import { connect, isIP } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { readConfig, type Config, type Environment } from '../api/server/config.ts'
import { notHeld } from '../api/builder/builds/held.ts'
import { cageStrength } from '../api/outside/cage/cage.ts'
import { KEY_FILE, newestOf, secretsOf } from '../api/server/key-file.ts'
import { sealingsOf } from '../api/sealed-values.ts'
import { Bucket } from '../db/bucket.ts'
import { CONTROL, openRegistry } from '../db/control/open.ts'
import { dataDirProblem } from '../db/data-dir.ts'
import { givenUp } from '../api/jobs/given-up.ts'
import { locked } from '../api/carriers/addon.ts'
import type { Registry } from '../db/control/registry.ts'
import { forgottenMedia, mediaFolder } from '../db/media-files.ts'
import { peekStores } from '../db/peek.ts'
import { addons } from '../db/store/addons.ts'
import { fileOf } from '../db/open.ts'
import { findChromium } from '../site/analyses/speed/chromium.ts'
import { holdOf, wordsOf } from '../site/analyses/speed/hold.ts'
import { examineDatabases } from './doctor-databases.ts'

interface Check {
  name: 'configuration' | 'databases' | 'jobs' | 'credentials' | 'disk' | 'files' | 'builds' | 'chromium' | 'mail'
  ok: boolean
  message: string
}

/** Less free space than this is too little for a day of orders and a backup. */
const FREE_LEAST_BYTES = 500 * 1024 * 1024
/** How long a mail server may take to say hello. */
const HELLO_MAX_MS = 5_000

/** Looks at everything; with a wrong configuration at nothing else, since nobody knows where the rest is. */
export async function examine(env: Environment, tell: (text: string) => void = () => {}): Promise<Check[]> {
  let config: Config
  try {
    config = readConfig(env)
  } catch (error) {
    return [{ name: 'configuration', ok: false, message: (error as Error).message }]
  }
  return [
    configuration(config),
    { name: 'databases', ...(await examineDatabases(config, tell)) },
    await jobs(config),
    await credentials(config),
    disk(config),
    await files(config),
    await builds(config),
    chromium(config),
    await mail(config),
  ]
}

function configuration({ dataDir, secretKey, stripe }: Config): Check {
  const name = 'configuration'
  const keyFile = join(dataDir, KEY_FILE)
  if (secretKey === null && existsSync(keyFile) && statSync(keyFile).mode & 0o077)
    return { name, ok: false, message: `${keyFile} can be read by others: run chmod 600 on it` }
  const cards = stripe.secretKey && !stripe.publishableKey ? '; published shops take no cards: STRIPE_PUBLISHABLE_KEY is not set' : ''
  return { name, ok: true, message: `every value is usable; the data folder is ${dataDir}${cards}` }
}

/** Looks into all stores. A database that can't be opened is told of by the check of the databases. */
async function inStores(
  name: Check['name'],
  { database }: Config,
  look: (registry: Registry) => Promise<Omit<Check, 'name'>>,
): Promise<Check> {
  const control = fileOf(database, CONTROL)
  if (control && !existsSync(control)) return { name, ok: true, message: 'none yet' }
  try {
    const { registry, close } = await openRegistry(database)
    return { name, ...(await look(registry).finally(close)) }
  } catch {
    return { name, ok: true, message: 'not looked at: see databases' }
  }
}

const jobs = (config: Config) =>
  inStores('jobs', config, async (registry) => {
    const failed = await givenUp(registry)
    if (!failed.length) return { ok: true, message: 'none was given up' }
    const { storeId, kind, subject, error } = failed[0]!
    const message = `${failed.length} given up, such as ${kind} of store ${storeId} (${subject}): ${error}`
    return { ok: false, message: `${message}; mend the cause, then run stoa jobs retry --all, or drop them: see stoa jobs list` }
  })

/** Credentials that were sealed with another key, and what else still needs a key before the newest. */
const credentials = (config: Config) =>
  inStores('credentials', config, async (registry) => {
    const { name, live, test } = addons
    const rows = await peekStores(registry, (db) => db.select({ name, live, test }).from(addons))
    // Nothing is made by looking.
    if (!rows.length && config.secretKey === null && !existsSync(join(config.dataDir, KEY_FILE)))
      return { ok: true, message: 'none are stored' }
    const { newest, hasOld } = newestOf(config)
    const all = secretsOf(config)
    const closed = rows.filter((row) => locked(all, row).length)
    if (closed.length) {
      const [first] = closed
      const message = `those of ${closed.length} addons were sealed with another key, such as ${first!.name} of store ${first!.storeId}`
      return { ok: false, message: `${message}: put that SECRET_KEY (or secret.key) back, or connect them again` }
    }
    const opening = rows.length ? `those of ${rows.length} addons open` : 'none are stored'
    if (!hasOld) return { ok: true, message: opening }
    const sealings = await peekStores(registry, async (db, owner) => [await sealingsOf(db, owner, { newest, all })])
    const old = sealings.reduce((sum, one) => sum + one.old, 0)
    const where = config.secretKey === null ? 'run stoa secrets forget' : 'take SECRET_KEY_OLD away'
    const rest = old
      ? `${old} sealed values need a key before the newest: run stoa secrets rotate`
      : `nothing needs a key before the newest: ${where}`
    return { ok: true, message: `${opening}; ${rest}` }
  })

function disk({ dataDir }: Config): Check {
  const name = 'disk'
  const problem = dataDirProblem(dataDir)
  if (problem) return { name, ok: false, message: problem }
  if (!existsSync(dataDir)) return { name, ok: true, message: `${dataDir} is not there yet: npm start makes it` }
  const { bavail, bsize } = statfsSync(dataDir)
  const free = `${Math.floor((bavail * bsize) / 1024 / 1024)} MB free`
  return bavail * bsize >= FREE_LEAST_BYTES
    ? { name, ok: true, message: free }
    : { name, ok: false, message: `${free}: make room, or set DATA_DIR to a folder with more` }
}

/** Writes to the S3 store, reads it back and removes it, and looks whether what was kept before it was set has been copied there. */
async function files({ dataDir, s3 }: Config): Promise<Check> {
  const name = 'files'
  if (!s3) return { name, ok: true, message: `media and deployments are in ${dataDir}` }
  const where = `${s3.bucket} at ${s3.endpoint}`
  try {
    const bucket = new Bucket(s3)
    const key = `doctor/${crypto.randomUUID()}`
    await bucket.put(key, new TextEncoder().encode(key))
    const found = await bucket.get(key)
    const isListed = await bucket.has(key)
    await bucket.remove(key)
    if (!found || (await new Response(found.body).text()) !== key || !isListed)
      return { name, ok: false, message: `${where} does not give back what is written to it: is there a cache before it?` }
    const forgotten = await forgottenMedia(dataDir, bucket)
    const copy = `copy ${mediaFolder(dataDir)} to ${s3.bucket}/media`
    return forgotten
      ? { name, ok: false, message: `${where} is written and read, but lacks ${forgotten} files that the data folder has: ${copy}` }
      : { name, ok: true, message: `${where} is written and read` }
  } catch (error) {
    return { name, ok: false, message: `${(error as Error).message}: check S3_ENDPOINT, S3_BUCKET and the keys` }
  }
}

/** How well this machine holds builds, which run what authors of storefronts wrote. */
async function builds({ buildsTrusted }: Config): Promise<Check> {
  const name = 'builds'
  const strength = await cageStrength()
  const why = notHeld(strength)
  if (why === null) return { name, ok: true, message: `held by version ${strength.landlock} of Landlock and by ${strength.apartBy}` }
  const message = buildsTrusted
    ? 'BUILDS_TRUSTED is set: what authors of storefronts write can do what the server can'
    : 'the starter alone is published as it is; for other projects use a newer kernel, or set BUILDS_TRUSTED=1 where you trust their authors'
  return { name, ok: true, message: `not held here (${why}): ${message}` }
}

/** The Chromium that measures page speed, and what holds the strangers' pages in it. */
function chromium({ chromiumNoSandbox }: Config): Check {
  const found = findChromium()
  const message = found
    ? `${found}, ${wordsOf(holdOf(chromiumNoSandbox))}`
    : 'not found; only measuring page speed here needs it: install chromium for that'
  return { name: 'chromium', ok: true, message }
}

/** Waits for the mail server's greeting; nothing is sent. */
async function mail({ smtpUrl, dataDir }: Config): Promise<Check> {
  const name = 'mail'
  if (!smtpUrl) return { name, ok: true, message: `mails are written to ${dataDir}/mail: set SMTP_URL to send them` }
  const { protocol, hostname, port } = new URL(smtpUrl)
  const address = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (protocol === 'smtps:' ? 465 : 25) }
  const greeting = await new Promise<string>((resolve) => {
    const socket =
      protocol === 'smtps:' ? connectTls({ ...address, ...(isIP(address.host) ? {} : { servername: hostname }) }) : connect(address)
    const end = (text: string) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(text)
    }
    const timer = setTimeout(() => end('no answer'), HELLO_MAX_MS)
    socket.on('data', (data) => end(data.toString('latin1').split('\r\n')[0]!.slice(0, 100)))
    socket.on('error', (error) => end(error.message))
    socket.on('close', () => end('the connection was closed'))
  })
  const where = `${address.host}:${address.port}`
  return greeting.startsWith('220')
    ? { name, ok: true, message: `${where} answers` }
    : { name, ok: false, message: `${where} does not greet (${greeting}): check SMTP_URL` }
}
