/** What scripts add for readers: the theme, copy buttons, the way to the search. Everything can be read without them. */
export {}

const root = document.documentElement
const THEMES = ['auto', 'light', 'dark'] as const
type Theme = (typeof THEMES)[number]

function themes(button: HTMLButtonElement) {
  const show = () => (button.textContent = `Theme: ${root.dataset.theme ?? 'auto'}`)
  button.hidden = false
  show()
  button.addEventListener('click', () => {
    const next = THEMES[(THEMES.indexOf((root.dataset.theme ?? 'auto') as Theme) + 1) % THEMES.length]!
    if (next === 'auto') delete root.dataset.theme
    else root.dataset.theme = next
    try {
      if (next === 'auto') localStorage.removeItem('theme')
      else localStorage.setItem('theme', next)
    } catch {
      /* a browser that keeps nothing shows the theme for this page */
    }
    show()
  })
}

/** Copies, and says so on the button for a moment. */
function copies(button: HTMLButtonElement, read: () => Promise<string> | string) {
  if (!navigator.clipboard) return
  const label = button.textContent
  button.hidden = false
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(await read())
    button.textContent = 'Copied'
    setTimeout(() => (button.textContent = label), 1500)
  })
}

for (const button of document.querySelectorAll<HTMLButtonElement>('[data-theme-toggle]')) themes(button)
/** What is to be pasted of a terminal: its commands, without the prompts and what was answered. */
function commandsIn(pre: HTMLPreElement): string {
  const typed = [...pre.querySelectorAll('b')].map((line) => line.textContent!.replace(/^\$ /, ''))
  return typed.length ? `${typed.join('\n')}\n` : (pre.textContent ?? '')
}
for (const code of document.querySelectorAll('.code')) {
  const button = Object.assign(document.createElement('button'), { type: 'button', className: 'copy', textContent: 'Copy', hidden: true })
  copies(button, () => commandsIn(code.querySelector('pre')!))
  ;(code.querySelector('.head') ?? code).append(button)
}
for (const button of document.querySelectorAll<HTMLButtonElement>('[data-copy-page]'))
  copies(button, () => fetch(button.dataset.copyPage!).then((answer) => answer.text()))

// For browsers that do not know `::details-content`.
if (matchMedia('(min-width: 80rem)').matches)
  for (const contents of document.querySelectorAll<HTMLDetailsElement>('.contents details')) contents.open = true
if (matchMedia('(min-width: 48rem)').matches)
  for (const section of document.querySelectorAll<HTMLDetailsElement>('.overview details')) section.open = true
// Who comes for a section finds it open.
const asked = location.hash && document.getElementById(location.hash.slice(1))?.closest('details')
if (asked) asked.open = true

// The page that is read is in view in the navigation.
const side = document.querySelector<HTMLElement>('.side')
const current = side?.querySelector<HTMLElement>('[aria-current="page"]')
if (side && current) side.scrollTop = current.offsetTop - side.clientHeight / 2

/** The section that is read is marked in the contents of the page. */
const links = new Map([...document.querySelectorAll<HTMLAnchorElement>('.contents a')].map((link) => [link.hash.slice(1), link]))
if (links.size) {
  const headings = [...links.keys()].flatMap((id) => document.getElementById(id) ?? [])
  let marked: HTMLAnchorElement | undefined
  const mark = () => {
    const isAtEnd = innerHeight + scrollY > document.documentElement.scrollHeight - 2
    const above = headings.findLast((heading) => isAtEnd || heading.getBoundingClientRect().top < innerHeight / 4) ?? headings[0]
    const link = above && links.get(above.id)
    if (link === marked) return
    marked?.removeAttribute('aria-current')
    link?.setAttribute('aria-current', 'true')
    marked = link
  }
  addEventListener('scroll', () => requestAnimationFrame(mark), { passive: true })
  mark()
}

/** What is chosen in the tabs of code: kept for all pages. */
const tabs = document.querySelectorAll<HTMLButtonElement>('[data-tab]')
const choose = () => {
  for (const tab of tabs) tab.ariaPressed = String(tab.dataset.tab === (root.dataset.code ?? 'sh'))
}
for (const tab of tabs) {
  tab.hidden = false
  tab.addEventListener('click', () => {
    const other = tab.closest('.code')!
    const { top } = other.getBoundingClientRect()
    const name = tab.dataset.tab!
    root.dataset.code = name
    choose()
    const shown = other.classList.contains(name) ? other : name === 'ts' ? other.nextElementSibling! : other.previousElementSibling!
    // What stands above may have another height now: what was chosen stays where it was, and so does the focus.
    scrollBy(0, shown.getBoundingClientRect().top - top)
    shown.querySelector<HTMLElement>(`[data-tab="${name}"]`)!.focus({ preventScroll: true })
    try {
      localStorage.setItem('code', name)
    } catch {
      /* chosen for this page */
    }
  })
}
choose()

async function find() {
  const field = document.querySelector<HTMLInputElement>('#q')
  if (field) return field.focus()
  const { open } = await import('./dialogue.ts')
  open()
}
document.querySelector('[data-find]')?.addEventListener('click', (event) => {
  const { ctrlKey, metaKey, shiftKey } = event as MouseEvent
  if (ctrlKey || metaKey || shiftKey) return
  event.preventDefault()
  void find()
})
document.addEventListener('keydown', (event) => {
  const typing = event.target instanceof HTMLElement && /^(input|textarea|select)$/i.test(event.target.tagName)
  const isSlash = event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey
  const isK = event.key === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey
  if (!isSlash && !isK) return
  event.preventDefault()
  void find()
})
