/**
 * The console: a page that shows the OpenAPI document and sends requests (document 8, Console). The page is the one that
 * `@elysiajs/swagger` makes for Scalar, asked of the plugin itself; what it shows is our document, not the 3.0 one that the plugin would
 * make. Nothing of it is read before the first request for it.
 */
import { formsOf, makeScript } from './console-script.ts'
import { Reply } from '../http/route.ts'

/** Fonts of the system, and the colours of the page to read, which have the contrast that Scalar's lack. No quotes: it stands in an attribute. */
const STYLE = [
  ':root{--scalar-font:system-ui,sans-serif;--scalar-font-code:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}',
  '.light-mode{--scalar-color-2:#57534b;--scalar-color-3:#67625a;--scalar-color-blue:#1f5f8a;--scalar-color-green:#1f6b3a;--scalar-color-orange:#835400;--scalar-color-yellow:#835400;--scalar-color-red:#a1302a}',
  '.dark-mode{--scalar-color-2:#b8b2a7;--scalar-color-3:#a8a297;--scalar-color-blue:#8cc4ea;--scalar-color-green:#86d3a0;--scalar-color-orange:#e4bb6c;--scalar-color-yellow:#e4bb6c;--scalar-color-red:#f09c95}',
].join('')

/** Scalar's settings: asking others, keeping data and offering services of its own are off; the policy below holds whatever they forget. */
const SETTINGS = {
  theme: 'default',
  customCss: STYLE,
  favicon: 'data:,',
  withDefaultFonts: false,
  persistAuth: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  proxyUrl: '',
  hideClientButton: true,
  showDeveloperTools: 'never',
  documentDownloadType: 'none',
}

/** Scalar styles elements by attribute, so styles can't be named one by one; scripts, requests and images come from here. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const ALWAYS = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' }
const YEAR_SECONDS = 31_536_000

async function pageOf(baseUrl: string, title: string, version: string): Promise<string> {
  const { swagger } = await import('@elysiajs/swagger')
  const plugin = swagger({
    path: '/console',
    scalarCDN: `${baseUrl}/docs/console.js?v=${version}`,
    // Its types are of an older Scalar, which took the URL in `spec`.
    scalarConfig: { ...SETTINGS, url: `${baseUrl}/openapi`, spec: { url: '' } } as never,
    documentation: { info: { title, description: 'Send requests to the store API', version } },
  })
  const page = await (await plugin.handle(new Request('http://localhost/console'))).text()
  return (
    page
      .replace('<html>', '<html lang="en">')
      // Its settings stand in a script of white space, which the policy would refuse to run.
      .replace(/>\s+<\/script>/g, '></script>')
      .replace(
        '<body>',
        `<body>\n    <noscript>This page needs scripts. <a href="${baseUrl}/docs">The reference</a> does without.</noscript>`,
      )
  )
}

/**
 * The two answers of the console: its page, and its script, which a page names by version and keeps for a year. `baseUrl`: where the paths
 * of the API start.
 */
export function consoleOf(baseUrl: string, title: () => string) {
  let made: Promise<{ version: string; formFor: ReturnType<typeof formsOf>; page: string }> | undefined
  async function make() {
    const script = await makeScript()
    return { version: script.version, formFor: formsOf(script), page: await pageOf(baseUrl, title(), script.version) }
  }
  // What failed is tried again by the next request.
  const ready = () => (made ??= make().catch((error) => ((made = undefined), Promise.reject(error))))
  return {
    async page(): Promise<Reply<200, string>> {
      const { page } = await ready()
      const headers = { ...ALWAYS, 'content-security-policy': POLICY, 'cross-origin-opener-policy': 'same-origin' }
      return new Reply(200, page, { ...headers, 'cache-control': 'public, no-cache' })
    },
    /** `version`: the one that the page names. Any gets the script of this release, and keeps it if it is the one asked for. */
    async script(version: string | undefined, accepted: string | null): Promise<Reply<200, Blob>> {
      const { version: own, formFor } = await ready()
      const { bytes, headers } = await formFor(accepted)
      const cache = version === own ? `public, max-age=${YEAR_SECONDS}, immutable` : 'public, no-cache'
      return new Reply(200, bytes, { ...ALWAYS, ...headers, 'cache-control': cache, 'cross-origin-resource-policy': 'same-origin' })
    },
  }
}
