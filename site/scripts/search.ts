/** The search page: asks the index that was made with the site as one types; the arrow keys go through what is found. */
export {}

interface Found {
  url: string
  meta: { title: string }
  excerpt: string
}
interface Index {
  search(query: string): Promise<{ results: { data(): Promise<Found> }[] }>
}

const SHOWN = 12
const field = document.querySelector<HTMLInputElement>('#q')!
const status = document.querySelector<HTMLElement>('[data-search-status]')!
const list = document.querySelector<HTMLOListElement>('[data-search-results]')!
const PAGEFIND = '/pagefind/pagefind.js'
let index: Promise<Index> | undefined
let asked = 0

/** Whether what was marked is what was asked for: the index falls back to ever shorter beginnings of a word that it does not have. */
function isMeant(query: string, { excerpt, meta }: Found): boolean {
  const marked = [...excerpt.matchAll(/<mark>(.+?)<\/mark>/g)].map(([, word]) => word!.toLowerCase())
  const found = [...marked, ...meta.title.toLowerCase().split(/\W+/)]
  return query
    .toLowerCase()
    .split(/\s+/)
    .some((word) => found.some((other) => other.startsWith(word.slice(0, 4))))
}

async function search() {
  const query = field.value.trim()
  const turn = ++asked
  history.replaceState(null, '', query ? `?q=${encodeURIComponent(query)}` : location.pathname)
  if (!query) {
    list.replaceChildren()
    status.textContent = ''
    return
  }
  index ??= import(/* @vite-ignore */ PAGEFIND)
  const { results } = await (await index).search(query)
  const found = (await Promise.all(results.slice(0, SHOWN).map((result) => result.data()))).filter((page) => isMeant(query, page))
  if (turn !== asked) return
  status.textContent = found.length ? `${results.length} page${results.length === 1 ? '' : 's'}` : `Nothing was found for “${query}”.`
  list.replaceChildren(
    ...found.map(({ url, meta, excerpt }) => {
      const item = document.createElement('li')
      const link = document.createElement('a')
      link.href = url
      link.textContent = meta.title
      const text = document.createElement('p')
      // Marks and entities alone: the excerpt is made from the site's own pages.
      text.innerHTML = excerpt
      item.append(link, text)
      return item
    }),
  )
}

field.value = new URLSearchParams(location.search).get('q') ?? ''
field.addEventListener('input', () => void search())
field.form!.addEventListener('submit', (event) => {
  event.preventDefault()
  list.querySelector('a')?.click()
})
document.addEventListener('keydown', (event) => {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  const stops = [field, ...list.querySelectorAll('a')]
  const at = stops.indexOf(document.activeElement as HTMLInputElement)
  if (at < 0) return
  event.preventDefault()
  stops[Math.max(0, Math.min(stops.length - 1, at + (event.key === 'ArrowDown' ? 1 : -1)))]!.focus()
})
if (field.value) void search()
