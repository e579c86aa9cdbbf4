/** From a comment to a task: one sentence of page, element and wish, by rules. */
import type { Pin } from '../../../db/store/builder.ts'

/** What a task is made of. */
interface Remark {
  content: string
  pagePath: string
  pin: Pin | null
}

/** Whoever writes tasks: rules of ours, or a model that is asked over a network. */
export interface Instructor {
  instruct(remark: Remark): Promise<string>
}

/** A wish that is longer is cut: the comment itself stands beside the task. */
const WISH_MAX = 600
/** Narrower pages are those of phones, and of tablets. */
const [PHONE_MAX, TABLET_MAX] = [640, 1_100]

/** A text on one line, as one sentence: without the stops within it, and at its end. */
function sentence(text: string): string {
  const line = text.replace(/\s+/gu, ' ').trim()
  const joined = line.replace(/(?<![.!?…])[.!?…]+ (?=\S)/gu, '; ').replace(/[.!?…;,: ]{1,20}$/u, '')
  const characters = [...(joined || line)]
  return characters.length > WISH_MAX ? `${characters.slice(0, WISH_MAX).join('').trimEnd()}…` : characters.join('')
}

const placeOf = (path: string) => (path === '/' ? 'On the home page' : `On the page ${path}`)
const widthOf = (width: number) => (width < PHONE_MAX ? ', as phones show it' : width < TABLET_MAX ? ', as tablets show it' : '')

/** Writes tasks by rules: the same comment is always the same task. */
export const byRules: Instructor = {
  async instruct({ content, pagePath, pin }) {
    const at = pin ? `${widthOf(pin.viewportWidth)}, for the ${pin.element}` : ', for the page as a whole'
    return `${placeOf(pagePath)}${at}: ${sentence(content)}.`
  },
}
