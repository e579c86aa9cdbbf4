/** The page of a review: for reviewers while it is open, later to be read alone. */
import { html, Html } from '../../values/html.ts'
import type { SessionStatus } from './transitions.ts'

const STYLE = `:root{color-scheme:light dark;--ink:light-dark(#1c1b19,#f1eee8);--soft:light-dark(#5d584f,#b9b3a8);--ground:light-dark(#faf8f4,#171614);--card:light-dark(#fff,#211f1c);--edge:light-dark(#8a8377,#7d776c);--line:light-dark(#e2ddd3,#37342f);--blue:light-dark(#0b57d0,#8ab4ff);--on-blue:light-dark(#fff,#0b1a33)}
*{box-sizing:border-box}body{margin:0;font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground);min-height:100vh;display:flex;flex-direction:column}[hidden]{display:none!important}
header{padding:.7rem 1rem;border-bottom:1px solid var(--line)}h1{font-size:1.15rem;margin:0}h2{font-size:1.05rem;margin:.2rem 0 .6rem}header p{margin:.1rem 0 0;color:var(--soft);font-size:.9rem}
.sides{display:flex;flex-direction:column;flex:1;min-height:0}main{padding:.6rem 0;display:flex;flex-direction:column;gap:.6rem;min-width:0}aside{padding:.8rem 1rem 2rem;border-top:1px solid var(--line)}
.bar{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}main .bar,#path{padding:0 1rem}#path{color:var(--soft);font-size:.85rem;overflow-wrap:anywhere;margin:0}fieldset{border:0;margin:0;padding:0;display:flex;gap:.2rem}legend{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
fieldset label{position:relative;display:inline-flex;align-items:center;min-height:40px;padding:0 .7rem;border:1px solid var(--edge);border-radius:.5rem;cursor:pointer}fieldset input{position:absolute;opacity:0;inset:0;margin:0;cursor:pointer}fieldset label:has(:checked){background:var(--ink);color:var(--ground)}fieldset label:has(:focus-visible){outline:3px solid var(--blue);outline-offset:2px}
#stage{height:68vh;min-height:22rem;overflow:hidden;border:solid var(--line);border-width:1px 0;background:var(--card)}iframe{border:0;display:block;transform-origin:0 0;background:#fff}
button{font:inherit;min-height:40px;padding:.3rem .9rem;border:1px solid var(--edge);border-radius:.5rem;background:transparent;color:inherit;cursor:pointer}button.main{background:var(--blue);border-color:var(--blue);color:var(--on-blue);font-weight:600}#pick[aria-pressed=true]{background:var(--ink);border-color:var(--ink);color:var(--ground)}button:disabled{opacity:.6}
:focus-visible{outline:3px solid var(--blue);outline-offset:2px}#said{min-height:1.5em;margin:0;color:var(--soft)}.soft{color:var(--soft)}
form{display:grid;gap:.5rem;margin:0 0 1rem;padding:.8rem;border:1px solid var(--line);border-radius:.6rem;background:var(--card)}label{font-weight:600}textarea,input:not([type=radio]){width:100%;font:inherit;padding:.5rem;border:1px solid var(--edge);border-radius:.5rem;background:transparent;color:inherit}textarea{min-height:6rem;resize:vertical}#about{margin:0;color:var(--soft);overflow-wrap:anywhere}
ol{list-style:none;padding:0;margin:0 0 1.2rem}li{padding:.7rem 0;border-top:1px solid var(--line)}li p{margin:0}.head{overflow-wrap:anywhere}.head small{color:var(--soft)}.text{white-space:pre-wrap;overflow-wrap:anywhere;margin:.2rem 0 .5rem!important}.tools{display:flex;gap:.5rem}
dialog{max-width:26rem;border:1px solid var(--edge);border-radius:.8rem;padding:1.2rem;background:var(--card);color:inherit}dialog::backdrop{background:#0008}dialog p{margin:.2rem 0 1rem}
@media(min-width:60rem){.sides{flex-direction:row}main{flex:1}aside{width:23rem;border-top:0;border-left:1px solid var(--line);overflow-y:auto;max-height:calc(100vh - 4.5rem)}#stage{flex:1;height:auto}main{padding-bottom:0}body{height:100vh}}`

/** Tags: where there is no preview, the comments are what the page is about. */
const [ASIDE, MAIN] = ['aside', 'main'].map((tag) => new Html(tag)) as [Html, Html]
const STYLE_HASH = `'sha256-${new Bun.CryptoHasher('sha256').update(STYLE).digest('base64')}'`

/** What a reviewer is told of a state in which nothing can be done. */
const SAYS: Readonly<Record<SessionStatus, string>> = {
  created: 'The preview is being made. This page shows it when it is ready.',
  in_progress: 'Look around in the preview, and pin a comment to whatever should be different.',
  task_review: 'This review was sent. The comments can be read, and no more be added.',
  processing: 'This review was sent. The comments are being worked on.',
  in_review: 'This review was sent. The comments are being worked on.',
  done: 'This review is done. These were its comments.',
  canceled: 'This review was canceled before it began.',
  interrupted: 'This review could not begin: its preview could not be made.',
}

interface ReviewPage {
  storeName: string
  status: SessionStatus
  /** The URL of the preview, without a slash at the end; null: it is not up. */
  preview: string | null
  /** The path of the script. */
  script: string
}

const widths = html`<fieldset>
  <legend>Width of the preview</legend>
  ${['Phone', 'Tablet', 'Desktop'].map(
    (name) =>
      html`<label><input type="radio" name="width" id="width-${name.toLowerCase()}" value="${name.toLowerCase()}" />${name}</label>`,
  )}
</fieldset>`

const stage = (isOpen: boolean) =>
  html`<div class="bar">
      ${isOpen && html`<button type="button" id="pick" class="main" aria-pressed="false">Pin a comment</button>`}
      ${isOpen && html`<button type="button" id="whole">Comment on the whole page</button>`}
      ${widths}
    </div>
    <p id="path" aria-label="Page of the preview"></p>
    <div id="stage">
      <iframe id="preview" title="Preview of the shop" sandbox="allow-scripts allow-same-origin allow-forms"></iframe>
    </div>`

const writing = html`<form id="compose" hidden autocomplete="off">
    <p id="about"></p>
    <label for="content">Your comment</label>
    <textarea id="content" required maxlength="2000"></textarea>
    <label for="author">Your name, if you like</label>
    <input id="author" maxlength="100" autocomplete="name" />
    <div class="bar"><button id="send" class="main">Add the comment</button><button type="button" id="leave">Leave it</button></div>
  </form>`

const submitting = html`<button type="button" id="submit">Send the review</button>
  <dialog id="sure" aria-labelledby="sure-title">
    <h2 id="sure-title">Send the review?</h2>
    <p>The shop gets to work on the comments then: nobody can add or delete any more.</p>
    <div class="bar"><button type="button" id="yes" class="main">Send it</button><button type="button" id="no">Not yet</button></div>
  </dialog>`

/** The page. What belongs to the preview and to comments is filled in by its script. */
export function reviewPage({ storeName, status, preview, script }: ReviewPage): string {
  const isOpen = status === 'in_progress'
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>Review of ${storeName}</title>
        <link rel="icon" href="data:," />
        <style>STYLE</style>
        <script src="${script}" defer></script>
      </head>
      <body data-status="${status}" data-preview="${preview ?? ''}">
        <header>
          <h1>Review of ${storeName}</h1>
          <p>${SAYS[status]}</p>
          <noscript><p>A review needs scripts.${preview && html` The preview alone is at <a href="${preview}/">${preview}</a>.`}</p></noscript>
        </header>
        <div class="sides">
          ${preview && html`<main>${stage(isOpen)}</main>`}
          <${preview ? ASIDE : MAIN}>
            <p id="said" role="status"></p>
            ${isOpen && writing}
            <h2 id="comments-title" tabindex="-1">Comments (<span id="count">0</span>)</h2>
            <p id="none" class="soft">There are none yet.</p>
            <ol id="comments"></ol>
            ${isOpen && submitting}
          </${preview ? ASIDE : MAIN}>
        </div>
      </body>
    </html>`.text.replace('<style>STYLE</style>', () => `<style>${STYLE}</style>`)
}

/**
 * What the page may do: its own script and style, its own server, and a preview in its frame. A policy can't name the host of one: to
 * browsers a name with an underscore is none. The hosts beside it refuse to be framed by themselves.
 */
export const policyOf = (previews: string | null): string =>
  [
    `default-src 'none'; script-src 'self'; style-src ${STYLE_HASH}; connect-src 'self'; img-src data:`,
    `frame-src ${previews ?? "'none'"}; form-action 'none'; frame-ancestors 'none'; base-uri 'none'`,
  ].join('; ')
