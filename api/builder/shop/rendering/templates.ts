/**
 * Pages that are templates: Liquid, which designers of shops know, with [[ ]] and [% %], since its own marks mean something to Astro. Their
 * authors are those of projects, so they can do little: no files, no code, bounded in length, time and memory.
 */
import { Context, Liquid, toValueSync, type Emitter, type Template } from 'liquidjs'

/** Templates that are kept parsed, and characters of theirs: parsed they take several times as much. */
const [KEPT, KEPT_CHARS] = [500, 5_000_000]
/** Marks of a template, each of which takes about a thousand characters when it is parsed. */
const [MARKS_MAX, MARK_CHARS] = [10_000, 1_000]
/** Characters of a page as it is shown. */
const SHOWN_MAX_CHARS = 4_000_000
/** What a page may take of the processor. */
const RENDER_MAX_MS = 100
/** What it may take where the processor was busy with something else meanwhile, */
const WAITED_MAX_MS = 1_000
/** which is plain where it had so little of it: pages take some milliseconds, and one that takes all it can get has had far more. */
const WAITED_BELOW_MS = RENDER_MAX_MS / 4
const liquid = new Liquid({
  outputDelimiterLeft: '[[',
  outputDelimiterRight: ']]',
  tagDelimiterLeft: '[%',
  tagDelimiterRight: '%]',
  outputEscape: 'escape',
  ownPropertyOnly: true,
  templates: {},
  parseLimit: 400_000,
  renderLimit: RENDER_MAX_MS,
  memoryLimit: 4_000_000,
})

/** They evaluate a text for each element, past all limits, and nest. */
for (const name of Object.keys(liquid.filters)) if (name.endsWith('_exp')) delete liquid.filters[name]

/** What is wrong with a template; null when it can be read. */
export function mistakeIn(text: string): string | null {
  if (marksIn(text) > MARKS_MAX) return `it has more than ${MARKS_MAX} marks`
  try {
    liquid.parse(text)
    return null
  } catch (error) {
    return (error as Error).message.split('\n')[0]!
  }
}

/** How many marks of Liquid a text has. */
function marksIn(text: string): number {
  let marks = 0
  for (const mark of ['[[', '[%']) for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 2)) marks++
  return marks
}

/** A page as it becomes longer, which ends. */
class Shown implements Emitter {
  buffer = ''

  write(html: unknown) {
    this.buffer += toText(html)
    if (this.buffer.length > SHOWN_MAX_CHARS) throw new Error(`the page has more than ${SHOWN_MAX_CHARS} characters`)
  }
}

const toText = (html: unknown): string =>
  Array.isArray(html) ? html.map(toText).join('') : html === null || html === undefined ? '' : String(html)

const parsed = new Map<string, Template[]>()
let chars = 0

/** The template under a key, parsed where it is not kept. */
function parsedOf(key: string, text: () => string): Template[] {
  const known = parsed.get(key)
  if (known) return known
  const source = text()
  const marks = marksIn(source)
  if (marks > MARKS_MAX) throw new Error(`the template has more than ${MARKS_MAX} marks`)
  const template = liquid.parse(source)
  const weight = source.length + marks * MARK_CHARS
  if (parsed.size >= KEPT || chars + weight > KEPT_CHARS) {
    parsed.clear()
    chars = 0
  }
  parsed.set(key, template)
  chars += weight
  return template
}

/** Whether a template is parsed already. */
export const knows = (key: string) => parsed.has(key)

/** Renders the template that `text` gives, which is parsed once for a key. Throws when it is broken, or takes too much. */
export function render(key: string, text: () => string, view: object): string {
  const template = parsedOf(key, text)
  const before = processorMs()
  try {
    return shown(template, view, RENDER_MAX_MS)
  } catch (error) {
    // The limit is of the time that passes: on a busy machine that is not what the page has taken.
    if (!/render limit exceeded/.test(String(error)) || processorMs() - before > WAITED_BELOW_MS) throw error
    return shown(template, view, WAITED_MAX_MS)
  }
}

/** A template with its marks filled in, within a time and a length. */
function shown(template: Template[], view: object, renderLimit: number): string {
  const page = new Shown()
  const context = new Context(view, liquid.options, { sync: true, renderLimit }, { liquid })
  toValueSync(liquid.renderer.renderTemplates(template, context, page))
  return page.buffer
}

/** What this thread has taken of the processor. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
