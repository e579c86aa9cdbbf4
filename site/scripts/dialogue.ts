/** The search in a dialogue over the page that is read; loaded when it is first wanted. */
import { finding } from './finding.ts'

const dialogue = document.createElement('dialog')
dialogue.className = 'finder search'
dialogue.setAttribute('aria-label', 'Search')
dialogue.innerHTML = `<button type="button" class="shut">Close</button><form role="search"><label for="find">What are you looking for?</label><input id="find" type="search" autocomplete="off" placeholder="Refund an order"></form>
<p role="status"></p><ol></ol><p class="keys"><kbd>↑</kbd> <kbd>↓</kbd> choose, <kbd>Enter</kbd> opens, <kbd>Esc</kbd> closes</p>`
const part = <T extends Element>(selector: string) => dialogue.querySelector<T>(selector)!
const field = part<HTMLInputElement>('input')
finding({ field, status: part('[role="status"]'), list: part('ol') })
// Whoever chooses a passage of this page sees it, and whoever presses beside the dialogue is done with it.
dialogue.addEventListener('click', ({ target }) => {
  if (target === dialogue || (target as Element).closest('a, .shut')) dialogue.close()
})
// The first press would only empty the field.
field.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return
  event.preventDefault()
  dialogue.close()
})
document.body.append(dialogue)

export function open() {
  dialogue.showModal()
  field.select()
}
