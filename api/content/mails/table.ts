/** Tables of mails: a name and an amount on each line. */
import { html } from '../../values/html.ts'
import type { Value } from './template.ts'

/** Rows of two cells, in both forms of a mail; the second stands at the right, one that is strong is bold. */
export const tableOf = (rows: readonly (readonly [string, string, 'strong'?])[]): Value => ({
  text: rows.map(([name, amount]) => `${name}  ${amount}`.trimEnd()).join('\n'),
  html: rows.length
    ? html`<table style="width:100%;border-collapse:collapse;margin:0 0 16px">${rows.map(([name, amount, weight]) => {
        const style = `padding:6px 0;border-bottom:1px solid #ccc${weight ? ';font-weight:bold' : ''}`
        return html`<tr><td style="${style}">${name}</td><td style="${style};text-align:right">${amount}</td></tr>`
      })}</table>`
    : html``,
})
