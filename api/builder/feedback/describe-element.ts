/** How an element of a page is named: a selector that finds it again, and words that people know it by. Runs in browsers. */
import { LENGTHS } from './message.ts'

/** What elements are called, by their tags; others are what their role says, or a part of the page. */
const NAMES: Readonly<Record<string, string>> = {
  a: 'link',
  button: 'button',
  img: 'image',
  picture: 'image',
  svg: 'image',
  video: 'video',
  input: 'field',
  select: 'field',
  textarea: 'field',
  label: 'label',
  p: 'text',
  li: 'list entry',
  ul: 'list',
  ol: 'list',
  table: 'table',
  td: 'cell',
  th: 'cell',
  form: 'form',
  nav: 'navigation',
  header: 'header',
  footer: 'footer',
  main: 'main part',
  figure: 'figure',
  blockquote: 'quotation',
}
const TEXT_MAX = 80
/** Parents that a selector climbs at most. */
const DEPTH_MAX = 30

/** The text of one line, cut. */
function short(text: string): string {
  const line = text
    .slice(0, 2_000)
    .replace(/[\s\u0000-\u001f\u007f]+/g, ' ')
    .trim()
  const characters = [...line]
  return characters.length > TEXT_MAX ? `${characters.slice(0, TEXT_MAX).join('').trimEnd()}…` : line
}

/** The words that people know an element by. */
export function described(element: Element): string {
  const tag = element.localName
  const kind = /^h[1-6]$/.test(tag) ? 'heading' : (NAMES[tag] ?? element.getAttribute('role') ?? 'part')
  const labels = (element as HTMLInputElement).labels
  const own = element.getAttribute('aria-label') ?? element.getAttribute('alt') ?? labels?.[0]?.textContent ?? element.textContent
  const text = short(own ?? '')
  return (text ? `${short(kind)} “${text}”` : short(kind)).slice(0, LENGTHS.element)
}

/** One step of a selector: the tag, and which of its kind among its siblings. */
function stepOf(element: Element): string {
  const { localName, parentElement } = element
  const alike = [...(parentElement?.children ?? [])].filter((sibling) => sibling.localName === localName)
  return alike.length > 1 ? `${CSS.escape(localName)}:nth-of-type(${alike.indexOf(element) + 1})` : CSS.escape(localName)
}

/** A selector that finds this element in its page: from the nearest id, else from the body. */
export function selectorOf(element: Element): string {
  const steps: string[] = []
  for (let at: Element | null = element; at && steps.length < DEPTH_MAX; at = at.parentElement) {
    if (at.id && at.id.length < 100 && document.querySelectorAll(`#${CSS.escape(at.id)}`).length === 1) {
      steps.unshift(`#${CSS.escape(at.id)}`)
      break
    }
    steps.unshift(stepOf(at))
    if (at === document.body) break
  }
  // The nearest steps alone may find it as well; one that finds something else is better than none.
  while (steps.join(' > ').length > LENGTHS.selector && steps.length > 1) steps.shift()
  return steps.join(' > ').slice(0, LENGTHS.selector)
}

/** What can be picked with the keyboard. */
const PICKABLE =
  'h1,h2,h3,h4,h5,h6,p,a,button,img,video,input:not([type=hidden]),select,textarea,li,figure,blockquote,table,nav,header,main,footer,section,article,form'
const PICKABLE_MAX = 1_000

/** Whether it can be seen: what is for screen readers alone is a pixel, and a menu that is closed is there all the same. */
export function isSeen(element: Element): boolean {
  const { width, height } = element.getBoundingClientRect()
  return width > 1 && height > 1 && (element.checkVisibility?.({ opacityProperty: true, visibilityProperty: true }) ?? true)
}

/** The elements that can be picked with the keyboard, in the order of the page. */
export const pickable = (): Element[] => [...document.body.querySelectorAll(PICKABLE)].filter(isSeen).slice(0, PICKABLE_MAX)
