/** The form of the store scan: says that it is at work, since an answer takes some seconds. Without this script it works, too. */
const form = document.querySelector<HTMLFormElement>('[data-scan]')
const said = document.querySelector('[data-scan-status]')

form?.addEventListener('submit', () => {
  if (said) said.textContent = 'Scanning: this takes up to twelve seconds.'
  form.querySelector('button')!.setAttribute('aria-disabled', 'true')
})
// Who comes back finds the page as it was left.
addEventListener('pageshow', () => form?.querySelector('button')!.removeAttribute('aria-disabled'))
