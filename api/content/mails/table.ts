/** Tables of mails: a name and an amount on each line. */
import { html } from '../../values/html.ts'
import type { Value } from './template.ts'

/** Rows of two cells, in both forms of a mail; the second stands at the right. */
export const tableOf = (rows: readonly (readonly [string, string])[]): Value => ({
  text: rows.map(([name, amount]) => `${name}  ${amount}`.trimEnd()).join('\n'),
  html: rows.length
    ? html`<table style="width:100%;border-collapse:collapse">${rows.map(
        ([name, amount]) =>
          html`<tr><td style="padding:6px 0;border-bottom:1px solid #ddd">${name}</td><td style="padding:6px 0;border-bottom:1px solid #ddd;text-align:right">${amount}</td></tr>`,
      )}</table>`
    : html``,
})
