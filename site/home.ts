/** The page that the content site shows until it has pages of its own. */

const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** Plain HTML: what Stoa is, where its API and its reference are, and a first request. `apiUrl` has no slash at the end. */
export function home(apiUrl: string, version: string): string {
  const api = escape(apiUrl)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="Stoa is an online-store backend: one JSON API for catalog, carts, orders, marketing and fulfilment.">
<meta name="color-scheme" content="light dark">
<title>Stoa: online-store backend</title>
<style>
:root { color-scheme: light dark; --text: light-dark(#1c1b19, #ece9e3); --quiet: light-dark(#5d5a54, #a8a49b); --page: light-dark(#fbfaf7, #171614); --box: light-dark(#f0ede6, #23211e); --link: light-dark(#8a3d0a, #f0a36b) }
body { margin: 0 auto; max-width: 40rem; padding: 4rem 1.25rem; font: 1.0625rem/1.6 system-ui, sans-serif; color: var(--text); background: var(--page) }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 1rem }
h2 { font-size: 1.125rem; margin: 2.5rem 0 .5rem }
a { color: var(--link) }
pre { overflow-x: auto; padding: 1rem; border-radius: .5rem; background: var(--box); font: .9375rem/1.5 ui-monospace, monospace }
footer { margin-top: 3rem; color: var(--quiet); font-size: .9375rem }
</style>
</head>
<body>
<main>
<h1>Stoa</h1>
<p>Stoa is an online-store backend: one JSON API for the catalog, carts, orders, marketing and fulfilment of a store. Each store has
databases of its own, one for live data and one for a sandbox.</p>
<h2>The API</h2>
<ul>
<li><a href="${api}/api/v1/docs">Reference</a></li>
<li><a href="${api}/api/v1/openapi">OpenAPI 3.1 description</a></li>
</ul>
<h2>A first request</h2>
<p>With a key from <code>npm run -s stoa -- store create --name "My store"</code>, or one of the demo store's:</p>
<pre><code>curl ${api}/api/v1/me \\
  -H "Authorization: Bearer $STOA_KEY"</code></pre>
</main>
<footer>Stoa ${escape(version)}</footer>
</body>
</html>
`
}
