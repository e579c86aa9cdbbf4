/** What rendered Markdown gets for readers: anchors on headings, tables that scroll by themselves, code that can be copied. */

const COPY = '<button type="button" class="copy" data-copy data-markdown-ignore hidden>Copy</button>'

/** The HTML of a page with what readers need added; works without scripts, which only show the buttons. */
export function decorated(html: string): string {
  return html
    .replace(
      /<h([2-4]) id="([^"]+)">([^]*?)<\/h\1>/g,
      (_, depth: string, id: string, inner: string) =>
        `<h${depth} id="${id}">${inner} <a class="anchor" href="#${id}" data-markdown-ignore><span aria-hidden="true">#</span><span class="hidden">Link to this section</span></a></h${depth}>`,
    )
    .replace(/<table>/g, '<div class="scroll" tabindex="0"><table>')
    .replace(/<\/table>/g, '</table></div>')
    .replace(
      /<pre([^>]*)>/g,
      (_, attributes: string) => `<div class="code">${COPY}<pre${/tabindex/.test(attributes) ? attributes : `${attributes} tabindex="0"`}>`,
    )
    .replace(/<\/pre>/g, '</pre></div>')
}

/** HTML that stands below another heading, among others of its kind: its headings are one level lower, and have no anchors. */
export const lowered = (html: string): string =>
  html
    .replace(/ <a class="anchor"[^]*?<\/a>(?=<\/h)/g, '')
    .replace(
      /<h([2-5]) id="[^"]*">([^]*?)<\/h\1>/g,
      (_, depth: string, inner: string) => `<h${Number(depth) + 1}>${inner}</h${Number(depth) + 1}>`,
    )
