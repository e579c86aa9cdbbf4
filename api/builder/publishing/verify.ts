/** Looking at a deployment on its own host, as a visitor would, before anything else serves it. */
import { request } from 'node:http'
import type { Storefronts } from '../../outside/storefronts.ts'
import type { Deployment } from '../builds/assemble.ts'
import { BuildError } from '../builds/build-error.ts'

const WAIT_MS = 10_000
/** Looked at of one page: enough to tell that it is one. */
const READ_BYTES = 200_000

interface Seen {
  status: number
  text: string
}

/** Asks a host for a path, by HTTP where this process listens, whatever its name leads to in DNS. */
function ask({ place }: Storefronts, host: string, path: string): Promise<Seen> {
  const { hostname, port } = new URL(place.listensOn!)
  return new Promise((resolve, reject) => {
    const sent = request(
      { hostname: hostname.replace(/^\[|\]$/g, ''), port, path, headers: { host, accept: 'text/html' }, timeout: WAIT_MS },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (piece: string) => {
          if (text.length < READ_BYTES) text += piece
        })
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
        answer.on('error', reject)
      },
    )
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${WAIT_MS / 1_000} s`)))
    sent.on('error', reject)
    sent.end()
  })
}

/** Pages that are filled in for each visitor, with a query that has them show something. */
const FILLED_IN = ['/cart', '/checkout', '/search?q=a', '/products?sort=price', '/wishlist', '/order', '/tickets']

/** The pages that are looked at: the home page, a product, the sitemap, and those that are filled in, as far as there are such. */
function looked({ pages, files }: Deployment): string[] {
  const product = Object.keys(pages).find((path) => /^\/products\/[^/]+$/.test(path))
  return [
    '/',
    ...(product ? [encodeURI(product)] : []),
    ...(files['/sitemap.xml'] ? ['/sitemap.xml'] : []),
    ...FILLED_IN.filter((path) => pages[path.split('?')[0]!]),
  ]
}

/** Refuses a deployment that is not what was asked for, or that its host does not serve. Throws a `BuildError`. */
export async function verify(storefronts: Storefronts, deployment: Deployment, commitSha: string) {
  if (deployment.commitSha !== commitSha) throw new BuildError(`the build is of ${deployment.commitSha}, not of ${commitSha}`)
  if (!deployment.pages['/']) throw new BuildError('the build has no home page')
  // A process that listens to nothing, such as the command line, has seen all there is to see in the files.
  if (!storefronts.place.listensOn) return
  const host = storefronts.hostOf(deployment.id)
  for (const path of looked(deployment)) {
    const seen = await ask(storefronts, host, path).catch((error: Error) => ({ status: 0, text: error.message }))
    if (seen.status !== 200) throw new BuildError(`${path} of the build answers ${seen.status || seen.text}`)
    if (!/<\w/.test(seen.text)) throw new BuildError(`${path} of the build is empty`)
  }
}
