/**
 * Pages that are templates: Liquid, which designers of shops know, with [[ ]] and [% %], since its own marks mean something to Astro. Their
 * authors are those of projects, so they can do little: no files, no code, bounded in length, time and memory.
 */
import { Liquid, type Template } from 'liquidjs'

/** Templates that are kept parsed, and characters of theirs: parsed they take several times as much. */
const [KEPT, KEPT_CHARS] = [500, 5_000_000]
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
  try {
    liquid.parse(text)
    return null
  } catch (error) {
    return (error as Error).message.split('\n')[0]!
  }
}

const parsed = new Map<string, Template[]>()
let chars = 0

/** The template under a key, parsed where it is not kept. */
function parsedOf(key: string, text: () => string): Template[] {
  const known = parsed.get(key)
  if (known) return known
  const source = text()
  const template = liquid.parse(source)
  if (parsed.size >= KEPT || chars + source.length > KEPT_CHARS) {
    parsed.clear()
    chars = 0
  }
  parsed.set(key, template)
  chars += source.length
  return template
}

/** Whether a template is parsed already. */
export const knows = (key: string) => parsed.has(key)

/** Renders the template that `text` gives, which is parsed once for a key. Throws when it is broken, or takes too much. */
export function render(key: string, text: () => string, view: object): string {
  const template = parsedOf(key, text)
  const before = processorMs()
  try {
    return liquid.renderSync(template, view) as string
  } catch (error) {
    // The limit is of the time that passes: on a busy machine that is not what the page has taken.
    if (!/render limit exceeded/.test(String(error)) || processorMs() - before > WAITED_BELOW_MS) throw error
    return liquid.renderSync(template, view, { renderLimit: WAITED_MAX_MS }) as string
  }
}

/** What this thread has taken of the processor. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
