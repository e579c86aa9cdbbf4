/** The scanner of an event's door: a page at `/door/{slug}` of this server, and its script. It holds nothing; who uses it has a key. */
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { formsOf } from '../../openapi/console-script.ts'
import { html } from '../../values/html.ts'
import { targetOf } from '../../http/url.ts'

const PATH = /^\/door\/([a-z0-9-]{1,200})$/
const SCRIPT = '/door/scanner.js'
/** One level more costs time and saves 3 %. */
const BROTLI_QUALITY = 5
const YEAR_SECONDS = 31_536_000

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; media-src 'self' blob:; img-src 'self' data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
const ALWAYS = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', 'cross-origin-resource-policy': 'same-origin' }

const STYLE = `:root{color-scheme:light dark;--ink:light-dark(#1c1b19,#f1eee8);--soft:light-dark(#5d584f,#b3ada2);--ground:light-dark(#faf8f4,#171614);--edge:light-dark(#8a8377,#7d776c);--green:#12633a;--red:#9c1c16}
*{box-sizing:border-box}body{margin:0;font:18px/1.4 system-ui,sans-serif;color:var(--ink);background:var(--ground)}[hidden]{display:none!important}
main{max-width:34rem;margin:0 auto;padding:1rem}h1{font-size:1.4rem;margin:.2rem 0}h2{font-size:1.1rem;margin:1.4rem 0 .4rem}label{display:block;margin:.8rem 0 .2rem}
input{width:100%;font:inherit;padding:.7rem;border:1px solid var(--edge);border-radius:.5rem;background:transparent;color:inherit}
button{font:inherit;min-height:44px;padding:.4rem 1.2rem;border:0;border-radius:.5rem;background:var(--ink);color:var(--ground);cursor:pointer}button:disabled{background:transparent;color:var(--soft)}
:focus-visible{outline:3px solid #2f7fd0;outline-offset:2px}.row{display:flex;justify-content:space-between;gap:1rem;align-items:baseline}.soft{color:var(--soft)}
#line[data-state=down]{font-weight:700}#start button{margin-top:1.2rem;width:100%}#start-error{color:light-dark(#9c1c16,#ff9d97)}
video{width:100%;aspect-ratio:1;object-fit:cover;background:#000;border-radius:.75rem;display:block;margin:.5rem 0}
#typing{display:flex;gap:.5rem;align-items:end}#typing div{flex:1}ul{list-style:none;padding:0;margin:.6rem 0}li{padding:.45rem 0;border-top:1px solid color-mix(in srgb,var(--edge) 40%,transparent)}#history button{min-height:36px;padding:0 .8rem;background:transparent;color:inherit;border:1px solid var(--edge)}#found small{color:var(--soft)}#found li{display:flex;justify-content:space-between;align-items:center}
#verdict{position:fixed;inset:0;display:grid;place-content:center;text-align:center;padding:2rem;color:#fff;z-index:1}#verdict[data-state=welcome]{background:var(--green)}#verdict[data-state=refused]{background:var(--red)}
#verdict-title{font-size:clamp(2.2rem,11vw,4.5rem);font-weight:750;line-height:1.1;margin:0;overflow-wrap:anywhere}#verdict-text{font-size:1.5rem;margin:.8rem 0 0}`

const pageOf = (version: string) =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <meta name="robots" content="noindex" />
        <title>Door</title>
        <link rel="icon" href="data:," />
        <style>
          ${STYLE}
        </style>
        <script src="${SCRIPT}?v=${version}" defer></script>
      </head>
      <body>
        <main>
          <noscript><p>The door needs scripts.</p></noscript>
          <form id="start" autocomplete="off">
            <h1>Door</h1>
            <p class="soft">The key stays in this page’s memory: give the door one with events:read and events:write alone.</p>
            <label for="key">Key</label>
            <input id="key" type="password" required autocomplete="off" spellcheck="false" />
            <label for="by">Name of this door</label>
            <input id="by" maxlength="200" value="Door" />
            <button>Open the door</button>
            <p id="start-error" role="alert"></p>
          </form>
          <div id="at-work" hidden>
            <h1 id="event"></h1>
            <div class="row"><span id="count"></span><span id="line" role="status"></span></div>
            <video id="camera" muted playsinline aria-label="What the camera sees"></video>
            <p id="no-camera" hidden>There is no camera, or this page may not use it. Type a name, an address or the code.</p>
            <form id="typing" autocomplete="off">
              <div>
                <label for="typed">Name, address or code</label>
                <input id="typed" autocapitalize="off" autocorrect="off" spellcheck="false" />
              </div>
              <button>Find</button>
            </form>
            <ul id="found" aria-label="Guests of that name"></ul>
            <h2>Last scans</h2>
            <ul id="history"></ul>
          </div>
        </main>
        <div id="verdict" role="alert" hidden>
          <p id="verdict-title"></p>
          <p id="verdict-text"></p>
        </div>
      </body>
    </html>`.text

async function make() {
  const entrypoint = new URL('scanner.ts', import.meta.url).pathname
  const { outputs } = await Bun.build({ entrypoints: [entrypoint], target: 'browser', minify: true })
  const bytes = Buffer.from(await outputs[0]!.arrayBuffer())
  const version = Bun.hash(bytes).toString(36)
  const br = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } })
  return { version, page: pageOf(version), formFor: formsOf({ version, br, gzip: gzipSync(bytes) }) }
}
let made: ReturnType<typeof make> | undefined
/** Made at its first use; what failed is tried again by the next request. */
const ready = () => (made ??= make().catch((error) => ((made = undefined), Promise.reject(error))))

/** Answers a request for the scanner; null when it is for something else. */
export async function serveDoor(request: Request): Promise<Response | null> {
  const [path, query = ''] = targetOf(request.url).split('?', 2) as [string, string?]
  if ((request.method !== 'GET' && request.method !== 'HEAD') || (path !== SCRIPT && !PATH.test(path))) return null
  const { version, page, formFor } = await ready()
  const body = <T>(all: T) => (request.method === 'HEAD' ? null : all)
  if (path !== SCRIPT)
    return new Response(body(page), {
      headers: {
        ...ALWAYS,
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': POLICY,
        'permissions-policy': 'camera=(self), microphone=(), geolocation=()',
        'cross-origin-opener-policy': 'same-origin',
        'cache-control': 'no-cache',
        'x-robots-tag': 'noindex',
      },
    })
  const { bytes, headers } = await formFor(request.headers.get('accept-encoding'))
  const cache = query === `v=${version}` ? `public, max-age=${YEAR_SECONDS}, immutable` : 'public, no-cache'
  return new Response(body(bytes), {
    headers: { ...ALWAYS, ...headers, 'content-type': 'text/javascript; charset=utf-8', 'cache-control': cache },
  })
}
