/** Measuring by Google's PageSpeed Insights, version 5. Its key goes into its query and nowhere else. */
import { CATEGORY_IDS, fieldDataOf, sideOf, type LighthouseResult, type LoadingExperience } from './results.ts'
import { SIDES, type Measured, type Provider, type SideName } from './speed.ts'

/** For one side (document 6). */
const ANSWER_MAX_MS = 60_000
/** Of an answer: with its pictures it has about a megabyte. */
const ANSWER_MAX_BYTES = 6 * 1_048_576

interface Answer {
  lighthouseResult?: LighthouseResult
  loadingExperience?: LoadingExperience
}

const failed = (failure: string): Measured => ({ failure })

async function limitedText(response: Response): Promise<string | null> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of response.body ?? []) {
    size += piece.length
    if (size > ANSWER_MAX_BYTES) return null
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function parsed(text: string): Answer | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : null
  } catch {
    return null
  }
}

async function measureSide(endpoint: string, key: string | null, url: URL, strategy: SideName, signal: AbortSignal): Promise<Measured> {
  const request = new URL(endpoint)
  request.searchParams.set('url', url.href)
  request.searchParams.set('strategy', strategy)
  for (const category of CATEGORY_IDS) request.searchParams.append('category', category)
  if (key !== null) request.searchParams.set('key', key)
  let text: string | null
  let status: number
  try {
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MAX_MS)])
    const response = await fetch(request, { signal: bounded, redirect: 'error', headers: { accept: 'application/json' } })
    ;[status, text] = [response.status, await limitedText(response)]
  } catch (error) {
    // What a failed request says holds its address, and that the key.
    return failed(
      (error as Error).name === 'TimeoutError' ? 'the speed-test service took too long' : 'the speed-test service did not answer',
    )
  }
  // Who tells what it was asked for would tell the key.
  if (key !== null && text?.includes(key)) return failed('the speed-test service did not answer usefully')
  if (status === 429) return failed('the speed-test service has had too many requests')
  if (status >= 500) return failed('the speed-test service could not load the page')
  if (status !== 200) return failed(`the speed-test service refused the request (${status})`)
  const answer = text === null ? null : parsed(text)
  const side = sideOf(answer?.lighthouseResult)
  if (!side) return failed('the speed-test service could not load the page')
  const version = answer!.lighthouseResult!.lighthouseVersion
  const experience = answer!.loadingExperience
  const fieldData = fieldDataOf(experience)
  const isOfSite = fieldData !== null && experience?.origin_fallback === true
  return { side, version: typeof version === 'string' ? version.slice(0, 20) : null, fieldData, isOfSite }
}

/** Both sides are asked for at once. */
export const insights = (endpoint: string, key: string | null): Provider => ({
  name: 'pagespeed-insights',
  async measure(url, signal) {
    const [mobile, desktop] = await Promise.all(SIDES.map((side) => measureSide(endpoint, key, url, side, signal)))
    return { mobile: mobile!, desktop: desktop! }
  },
})
