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
for (const code of document.querySelectorAll('.code')) {
  const button = Object.assign(document.createElement('button'), { type: 'button', className: 'copy', textContent: 'Copy', hidden: true })
  copies(button, () => code.querySelector('pre')!.textContent ?? '')
  code.prepend(button)
}
for (const button of document.querySelectorAll<HTMLButtonElement>('[data-copy-page]'))
  copies(button, () => fetch(button.dataset.copyPage!).then((answer) => answer.text()))

// For browsers that do not know `::details-content`.
if (matchMedia('(min-width: 80rem)').matches)
  for (const contents of document.querySelectorAll<HTMLDetailsElement>('.contents details')) contents.open = true

document.addEventListener('keydown', (event) => {
  const typing = event.target instanceof HTMLElement && /^(input|textarea|select)$/i.test(event.target.tagName)
  if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  const field = document.querySelector<HTMLInputElement>('#q')
  if (field) field.focus()
  else location.assign('/search')
})
