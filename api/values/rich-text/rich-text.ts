/** Rich text: ProseMirror documents as JSON (document 3, Clarifications, "Rich-text document object"). */
import { invalid, type Detail } from '../refusal.ts'

/** The size of one document as JSON. */
const RICH_TEXT_MAX_BYTES = 200 * 1024

/** The nodes of the schemas that editors come with, in both of their spellings. */
const NODES = [
  'doc',
  'paragraph',
  'text',
  'heading',
  'blockquote',
  'bulletList',
  'bullet_list',
  'orderedList',
  'ordered_list',
  'listItem',
  'list_item',
  'taskList',
  'task_list',
  'taskItem',
  'task_item',
  'codeBlock',
  'code_block',
  'horizontalRule',
  'horizontal_rule',
  'hardBreak',
  'hard_break',
  'image',
  'table',
  'tableRow',
  'table_row',
  'tableCell',
  'table_cell',
  'tableHeader',
  'table_header',
]
/** A document stands at the top alone. */
const INNER = new Set(NODES.slice(1))
const OPTIONS = [...INNER]

/** Where a link or an image may lead: script in an address is the reader's trouble, wherever the text is shown. */
const SAFE_URL = /^(https?:|mailto:|tel:|[/#?]|[^:]*$)/i

/** An address among the attributes of a node or a mark that leads where it should not. */
function unsafeAttribute(attrs: unknown, path: string[]): Detail | null {
  if (typeof attrs !== 'object' || attrs === null) return null
  for (const name of ['href', 'src']) {
    const value = (attrs as Record<string, unknown>)[name]
    // Browsers drop these characters before they look at the scheme.
    if (typeof value === 'string' && !SAFE_URL.test(value.replace(/[\u0000-\u0020]/g, '')))
      return { code: 'invalid_string', message: 'must be a web, mail or telephone address', path: [...path, name] }
  }
  return null
}

/** The first thing wrong with a node below the document; bodies nest at most 100 levels, so that this ends. */
function problemOf(node: unknown, path: string[]): Detail | null {
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return { code: 'invalid_type', message: 'must be a node', path }
  const { type, text, content, marks, attrs } = node as Record<string, unknown>
  if (typeof type !== 'string' || !INNER.has(type))
    return { code: 'invalid_enum_value', message: 'is not a known type of node', path: [...path, 'type'], options: OPTIONS }
  if (type === 'text' ? typeof text !== 'string' : text !== undefined)
    return { code: 'invalid_type', message: type === 'text' ? 'must be a string' : 'belongs to text nodes alone', path: [...path, 'text'] }
  if (marks !== undefined && !Array.isArray(marks)) return { code: 'invalid_type', message: 'must be a list', path: [...path, 'marks'] }
  for (const [i, mark] of (marks ?? []).entries()) {
    if (typeof mark !== 'object' || mark === null || typeof (mark as { type?: unknown }).type !== 'string')
      return { code: 'invalid_type', message: 'must be a mark', path: [...path, 'marks', String(i)] }
    const unsafe = unsafeAttribute((mark as { attrs?: unknown }).attrs, [...path, 'marks', String(i), 'attrs'])
    if (unsafe) return unsafe
  }
  const unsafe = unsafeAttribute(attrs, [...path, 'attrs'])
  if (unsafe) return unsafe
  return content === undefined ? null : problemIn(content, [...path, 'content'])
}

function problemIn(content: unknown, path: string[]): Detail | null {
  if (!Array.isArray(content)) return { code: 'invalid_type', message: 'must be a list', path }
  for (const [i, node] of content.entries()) {
    const problem = problemOf(node, [...path, String(i)])
    if (problem) return problem
  }
  return null
}

/** Refuses a field of a body with 400 when its document is over 200 KB or has a node of an unknown type; text and null pass. */
export function requireRichText<F extends string>(body: { [K in F]?: unknown }, ...fields: F[]) {
  for (const field of fields) {
    const value = body[field]
    if (typeof value !== 'object' || value === null) continue
    const size = Buffer.byteLength(JSON.stringify(value))
    if (size > RICH_TEXT_MAX_BYTES)
      throw invalid([
        { code: 'too_big', message: `must have at most ${RICH_TEXT_MAX_BYTES} bytes as JSON`, path: [field], maximum: RICH_TEXT_MAX_BYTES },
      ])
    const problem = problemIn((value as { content?: unknown }).content ?? [], [field, 'content'])
    if (problem) throw invalid([problem])
  }
}
