/** Pages behind the links of mails: HTML without scripts, for people. */
import { html, type Html } from '../../values/html.ts'
import { Reply } from '../../http/route.ts'

const STYLE =
  ':root{color-scheme:light dark}body{font:18px/1.5 system-ui,sans-serif;max-width:32rem;margin:min(20vh,8rem) auto 4rem;padding:0 1.5rem;text-align:center}h1{font-size:1.5rem}button{font:inherit;padding:.6rem 1.6rem;border:0;border-radius:.5rem;background:light-dark(#1c1b19,#ece9e2);color:light-dark(#fff,#171614);cursor:pointer}label{display:block;margin:1rem 0 .25rem;text-align:left}input,textarea,select{font:inherit;width:100%;box-sizing:border-box;padding:.5rem;border:1px solid #8886;border-radius:.5rem;background:transparent;color:inherit}textarea{min-height:8rem}article{text-align:left;border-top:1px solid #8884;padding:1rem 0}article p{white-space:pre-wrap;margin:.25rem 0}form{margin:1.5rem 0}button:focus-visible{outline:3px solid #4a90d9;outline-offset:3px}'

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
}

/** A page for a person who has followed a link: no script, nothing from elsewhere. */
export const page = <S extends number = 200>(title: string, body: Html, status: S = 200 as S) =>
  new Reply(
    status,
    html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width" />
          <title>${title}</title>
          <style>
            ${STYLE}
          </style>
        </head>
        <body>
          <main>${body}</main>
        </body>
      </html>`.text,
    HEADERS,
  )

/** A page with one button. */
export const asking = (title: string, text: string, button: string) =>
  page(title, html`<h1>${title}</h1><p>${text}</p><form method="post"><button>${button}</button></form>`)
/** A page that says what is. */
export const done = <S extends number = 200>(title: string, text: string, status?: S) =>
  page(title, html`<h1>${title}</h1><p>${text}</p>`, status)
