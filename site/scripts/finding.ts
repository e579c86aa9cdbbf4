/** Finding as one types: a field, what is said of what was found, and its list, which the arrow keys go through. Asks `/api/search`. */
import { PLACES } from '../lib/areas.ts'

interface Hit {
  title: string
  /** Of the passage. */
  url: string
  /** The area of the site. */
  section: string
  heading: string
  excerpt: string
  planned: boolean
}
interface Parts {
  field: HTMLInputElement
  status: HTMLElement
  list: HTMLOListElement
}

const SHOWN = 12
/** Between two keys of somebody who types. */
const PAUSE_MS = 60

function element<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, text: string, className = '') {
  return Object.assign(document.createElement(tag), { textContent: text, className })
}

function itemOf({ title, url, section, heading, excerpt, planned }: Hit): HTMLLIElement {
  const item = document.createElement('li')
  const { pathname, hash } = new URL(url)
  const link = Object.assign(element('a', title), { href: pathname + hash })
  if (planned) link.append(' ', element('span', 'Planned', 'badge planned'))
  const where = [PLACES[section] ?? section, ...(heading === title ? [] : [heading])].join(' › ')
  item.append(link, element('small', where), element('p', excerpt))
  return item
}

/** Makes the parts find; `asked` hears of each question. */
export function finding({ field, status, list }: Parts, asked: (words: string) => void = () => {}) {
  let going: AbortController | undefined
  async function search() {
    going?.abort()
    const { signal } = (going = new AbortController())
    const words = field.value.trim()
    asked(words)
    if (!words) {
      list.replaceChildren()
      status.textContent = ''
      return
    }
    try {
      await new Promise((done) => setTimeout(done, PAUSE_MS))
      if (signal.aborted) return
      const answer = await fetch(`/api/search?limit=${SHOWN}&q=${encodeURIComponent(words)}`, { signal })
      const { data, detail } = (await answer.json()) as { data?: Hit[]; detail?: string }
      status.textContent = data
        ? data.length
          ? `${data.length} passage${data.length === 1 ? '' : 's'}`
          : `Nothing was found for “${words}”: fewer or other words may find it, and so may the lists of all pages (Docs, How-to).`
        : detail!
      list.replaceChildren(...(data ?? []).map(itemOf))
    } catch {
      if (!signal.aborted) status.textContent = 'The search does not answer: try again.'
    }
  }
  let found = Promise.resolve()
  field.addEventListener('input', () => (found = search()))
  field.form!.addEventListener('submit', async (event) => {
    event.preventDefault()
    // What is opened was found for what stands there now.
    await found
    list.querySelector('a')?.click()
  })
  field.form!.parentElement!.addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    const stops = [field, ...list.querySelectorAll('a')]
    const at = stops.indexOf(document.activeElement as HTMLInputElement)
    if (at < 0) return
    event.preventDefault()
    stops[Math.max(0, Math.min(stops.length - 1, at + (event.key === 'ArrowDown' ? 1 : -1)))]!.focus()
  })
  return search
}
