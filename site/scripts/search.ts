/** The search page: finds anew as one types, and keeps the question in its address. */
import { finding } from './finding.ts'

const part = <T extends Element>(selector: string) => document.querySelector<T>(selector)!
const field = part<HTMLInputElement>('#q')
const search = finding({ field, status: part('[data-search-status]'), list: part('[data-search-results]') }, (words) =>
  history.replaceState(null, '', words ? `?q=${encodeURIComponent(words)}` : location.pathname),
)
// What the server has found stands there already.
if (field.value && !document.querySelector('[data-search-results] a')) void search()
