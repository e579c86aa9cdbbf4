/** The Markdown that descriptions and the reference use, as HTML: paragraphs, tables, `code`, **bold** and links within the page. */
import { escapeHtml, html, Html } from '../values/html.ts'

const MARKS = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\((#[\w-]+)\)/g

const marked = (escaped: string): string =>
  escaped.replace(MARKS, (_, code?: string, bold?: string, text?: string, target?: string) =>
    code ? `<code>${code}</code>` : bold ? `<strong>${marked(bold)}</strong>` : `<a href="${target}">${marked(text!)}</a>`,
  )
/** Text of one line. */
export const phrase = (markdown: string) => new Html(marked(escapeHtml(markdown)))

const cellsOf = (row: string) =>
  row
    .slice(2, -2)
    .split(/ \| /)
    .map((cell) => phrase(cell.replaceAll('\\|', '|')))

function table(lines: string[]) {
  const [head, , ...rows] = lines
  return html`<div class="scroll"><table><thead><tr>${cellsOf(head!).map((cell) => html`<th>${cell}</th>`)}</tr></thead><tbody>${rows.map(
    (row) => html`
<tr>${cellsOf(row).map((cell) => html`<td>${cell}</td>`)}</tr>`,
  )}</tbody></table></div>`
}

/** Paragraphs and tables. */
export const prose = (markdown: string) =>
  markdown.split(/\n{2,}/).map((block) => (block.startsWith('| ') ? table(block.split('\n')) : html`<p>${phrase(block)}</p>`))
