/** Which requests of the site are analyses, and how they are answered: as JSON, as the page `/scan`, and as its Markdown. */
import { pathOf, searchOf } from '../../api/http/url.ts'
import { decoded } from '../../api/hosting/paths.ts'
import type { Answers } from '../lib/answers.ts'
import { MARKDOWN_TYPE, VARY } from '../lib/headers.ts'
import { formFor } from '../../api/hosting/negotiate.ts'
import type { Fields } from '../../api/hosting/prepared.ts'
import type { Analyses, Outcome } from './analyses.ts'
import { operationAt, SCAN, type OperationName } from './operations.ts'
import type { Renderer } from './renderer.ts'
import { reportMarkdown, type Shown } from './report.ts'
import type { StoreScan } from './scan/scan.ts'

interface FrontNeeds {
  answers: Answers
  analyses: Analyses
  renderer: Pick<Renderer, 'page'>
  /** The address of a request's connection. */
  peerOf: (request: Request) => string
}

const GONE = 499
const isRead = ({ method }: Request) => method === 'GET' || method === 'HEAD'
const hasUrl = (query: string) => new URLSearchParams(query).has('url')

export class Front {
  constructor(readonly needs: FrontNeeds) {}

  /** Answers a request: analyses by and by, everything else at once. */
  answer(request: Request): Response | Promise<Response> {
    const path = decoded(pathOf(request.url)) ?? ''
    const operation = operationAt(path)
    if (operation) return this.#operation(request, operation)
    if (path === SCAN && isRead(request)) return this.#page(request)
    if (path === `${SCAN}.md` && isRead(request) && hasUrl(searchOf(request.url)))
      return this.#safely(request, () => this.#markdown(request, {}))
    return this.needs.answers.answer(request)
  }

  /** What a client gets that has asked for an analysis; every answer says where it stands. */
  #operation(request: Request, operation: OperationName): Response | Promise<Response> {
    const { answers, analyses } = this.needs
    if (isRead(request))
      return this.#safely(request, async () => {
        const outcome = await this.#ask(request, operation)
        return 'problem' in outcome
          ? answers.problem(request, outcome.problem, outcome.fields)
          : answers.json(request, { ...outcome.report, cached: outcome.cached }, outcome.fields)
      })
    const response = answers.answer(request)
    const { fields } = analyses.needs.limits.look(operation, this.#clientOf(request))
    for (const [name, value] of Object.entries(fields)) response.headers.set(name, value)
    return response
  }

  /** The page, with a report when its address names a shop. */
  #page(request: Request): Response | Promise<Response> {
    const query = searchOf(request.url)
    const form = formFor(request.headers.get('accept'))
    if (form === 'html') return this.#safely(request, () => this.#html(request, query))
    if (form === null || !hasUrl(query)) return this.needs.answers.answer(request)
    return this.#safely(request, () => this.#markdown(request, { ...VARY, 'content-location': `${SCAN}.md?${query}` }, MARKDOWN_TYPE[form]))
  }

  async #html(request: Request, query: string): Promise<Response> {
    const { answers, renderer } = this.needs
    const given = new URLSearchParams(query).get('url') ?? ''
    const outcome = hasUrl(query) && given.trim() ? await this.#ask(request, 'store-scan') : null
    const shown: Shown = { given, ...shownOf(outcome), query }
    const { manifest, place } = answers
    const html = (await renderer.page(SCAN, { shown })).replaceAll(manifest.base, place.base)
    const status = outcome && 'problem' in outcome ? outcome.problem.status : 200
    return answers.made(request, html, { ...outcome?.fields, ...answers.ofHtml(SCAN) }, status)
  }

  /** The report for agents; what is refused is a problem. */
  async #markdown(request: Request, more: Fields, type: string = MARKDOWN_TYPE.markdown): Promise<Response> {
    const { answers } = this.needs
    const outcome = await this.#ask(request, 'store-scan')
    if ('problem' in outcome) return answers.problem(request, outcome.problem, { ...outcome.fields, ...more })
    const text = reportMarkdown(outcome.report as StoreScan, answers.place.base)
    return answers.made(request, text, { ...outcome.fields, ...more, 'content-type': type })
  }

  #clientOf(request: Request): string {
    const { analyses, peerOf } = this.needs
    return analyses.needs.limits.clients.nameOf(peerOf(request), request.headers.get('x-forwarded-for'))
  }

  #ask(request: Request, operation: OperationName): Promise<Outcome> {
    const asker = { client: this.#clientOf(request), signal: request.signal }
    return this.needs.analyses.ask(operation, searchOf(request.url), asker)
  }

  async #safely(request: Request, work: () => Promise<Response>): Promise<Response> {
    try {
      return await work()
    } catch (error) {
      // Who is gone hears nothing; the log has the status that nginx gives it.
      if (request.signal.aborted) return new Response(null, { status: GONE })
      console.error(error)
      return this.needs.answers.broken(request)
    }
  }
}

const shownOf = (outcome: Outcome | null): Pick<Shown, 'scan' | 'problem'> => ({
  scan: outcome && 'report' in outcome ? (outcome.report as StoreScan) : null,
  problem: outcome && 'problem' in outcome ? outcome.problem : null,
})
