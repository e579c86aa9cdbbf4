/**
 * What scripts add to a shop that works without them: forms are sent without leaving the page, lists are filtered in place, prices and
 * stock are those of this moment, and the search answers as one types.
 */
export {}

const root = document
const $ = <T extends Element>(selector: string, from: ParentNode = root) => from.querySelector<T>(selector)
const $$ = <T extends Element>(selector: string, from: ParentNode = root) => [...from.querySelectorAll<T>(selector)]

const prefix = location.protocol === 'https:' ? '__Host-' : ''
const cookie = (name: string) => new RegExp(`(?:^|; )${prefix}${name}=([^;]*)`).exec(document.cookie)?.[1]

/** How many things are in the cart, as the host noted it. */
function count() {
  const badge = $<HTMLElement>('[data-cart-count]')
  if (!badge) return
  const number = Number(cookie('cart_count') ?? 0)
  badge.textContent = String(number)
  badge.hidden = number < 1
}

const toast = $<HTMLElement>('.toast')
let hiding = 0
function say(text: string) {
  if (!toast) return
  toast.textContent = text
  toast.hidden = false
  clearTimeout(hiding)
  hiding = window.setTimeout(() => (toast.hidden = true), 5_000)
}

/** Puts the parts of another page that are marked to be swapped in the place of those here; false when there are none. */
function swap(html: string): boolean {
  const other = new DOMParser().parseFromString(html, 'text/html')
  let swapped = false
  for (const part of $$<HTMLElement>('[data-swap]')) {
    const next = $<HTMLElement>(`[data-swap="${part.dataset.swap}"]`, other)
    if (!next) continue
    const active = document.activeElement as HTMLInputElement | null
    const held = active && part.contains(active) && active.name ? { name: active.name, action: active.form?.getAttribute('action') } : null
    const isOpen = $<HTMLDetailsElement>('details', part)?.open
    part.replaceWith(next)
    const details = $<HTMLDetailsElement>('details', next)
    if (details && isOpen) details.open = true
    enhance(next)
    if (held)
      $$<HTMLInputElement>(`[name="${held.name}"]`, next)
        .find(({ form }) => form?.getAttribute('action') === held.action)
        ?.focus()
    swapped = true
  }
  return swapped
}

/** Says at the fields of a form what is wrong with them, and goes to the first. */
function mark(form: HTMLFormElement, errors: Record<string, string>, words: Record<string, string>) {
  for (const old of $$('.error', form)) old.remove()
  for (const input of $$<HTMLInputElement>('[aria-invalid]', form)) input.removeAttribute('aria-invalid')
  const wrong = Object.keys(errors).flatMap((name) =>
    $$<HTMLInputElement>(`[name="${CSS.escape(name)}"]:not([type="hidden"])`, form).slice(0, 1),
  )
  for (const [at, input] of wrong.entries()) {
    const text = document.createElement('small')
    text.className = 'error'
    text.id = `error-${input.name}-${at}`
    text.textContent = (errors[input.name] === 'required' ? words.required : words.wrong) ?? ''
    input.ariaInvalid = 'true'
    input.setAttribute('aria-describedby', text.id)
    input.closest('.field, fieldset')?.append(text)
  }
  wrong[0]?.focus()
}

/** The next step of a page begins at its top, for the eyes and for the keyboard. */
function begin() {
  const title = $<HTMLElement>('main h1')
  if (!title) return
  title.tabIndex = -1
  title.focus({ preventScroll: true })
  scrollTo({ top: 0 })
}

/** Sends a form and shows what came of it: a message, the page as it is now, or the page that follows. */
async function send(form: HTMLFormElement, submitter: HTMLElement | null) {
  const body = new URLSearchParams(new FormData(form, submitter) as unknown as Record<string, string>)
  const buttons = $$<HTMLButtonElement>('button', form)
  for (const button of buttons) button.ariaDisabled = 'true'
  form.ariaBusy = 'true'
  try {
    const answer = await fetch(form.action, { method: 'POST', body, headers: { accept: 'application/json' } })
    const said = (await answer.json()) as { code?: string | null; location?: string; error?: string }
    count()
    if (said.location && new URL(said.location, location.href).pathname !== location.pathname) return location.assign(said.location)
    if (answer.ok && $('[data-swap]')) {
      const page = await fetch(said.location ?? location.href, { headers: { accept: 'text/html' } })
      swap(await page.text())
      if (form.dataset.step !== undefined) begin()
    }
    if (answer.ok && !$('[data-swap]')) form.reset()
    const words = JSON.parse(toast?.dataset.words ?? '{}') as Record<string, string>
    const text = words[said.code ?? '']?.replace('{reason}', said.error ?? '') ?? said.error
    if (text) say(text)
    mark(form, answer.ok ? {} : ((said as { errors?: Record<string, string> }).errors ?? {}), words)
    const buy = $<HTMLFormElement>('[data-buy]')
    if (buy) void refresh(buy)
  } catch {
    // It may have been done all the same: whether it is sent again is for the visitor to say.
    say((JSON.parse(toast?.dataset.words ?? '{}') as Record<string, string>).failed ?? '')
  } finally {
    form.ariaBusy = null
    for (const button of buttons) button.ariaDisabled = null
  }
}

/** Filters, sorts and turns pages without loading the page anew. */
async function show(url: string, push = true) {
  const answer = await fetch(url, { headers: { accept: 'text/html' } })
  if (!answer.ok || !swap(await answer.text())) return location.assign(url)
  if (push) history.pushState(null, '', url)
}

function lists(from: ParentNode) {
  for (const form of $$<HTMLFormElement>('form[data-list]', from)) {
    const go = () => {
      const query = [...new FormData(form)]
        .filter(([, value]) => value !== '')
        .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
      void show(form.action.split('?')[0]! + (query.length ? `?${query.join('&')}` : ''))
    }
    form.addEventListener('submit', (event) => (event.preventDefault(), go()))
    if (form.dataset.seek === undefined) form.addEventListener('change', go)
    else {
      let waiting = 0
      form.addEventListener('input', () => {
        clearTimeout(waiting)
        waiting = window.setTimeout(go, 200)
      })
    }
  }
  for (const link of $$<HTMLAnchorElement>('.pages a', from))
    link.addEventListener('click', (event) => {
      if (event.metaKey || event.ctrlKey) return
      event.preventDefault()
      void show(link.href).then(() => $('main')?.scrollIntoView())
    })
}

interface Fresh {
  variants: { id: string; price: number | null; stock: { tracked: boolean; available: number; backorder: boolean } }[]
}
/** The stock of this moment on a product's page. */
async function refresh(form: HTMLFormElement) {
  const answer = await fetch(`/_shop/products/${form.dataset.buy}`).catch(() => null)
  if (!answer?.ok) return
  const { variants } = (await answer.json()) as Fresh
  for (const input of $$<HTMLInputElement>('[name="variantId"]', form)) {
    const { stock, price } = variants.find(({ id }) => id === input.value) ?? {}
    if (!stock) continue
    const isOff = price === null || (stock.tracked && !stock.backorder && stock.available < 1)
    input.dataset.off = String(isOff)
    input.dataset.stock = isOff
      ? form.dataset.soldOut!
      : stock.tracked && stock.available > 0 && stock.available <= 5
        ? form.dataset.left!.replace('#', String(stock.available))
        : (input.dataset.stock ?? '')
    input.closest('.chip')?.classList.toggle('off', isOff)
  }
  choose(form)
}

/** Shows the price and the stock of the version that is chosen. */
function choose(form: HTMLFormElement) {
  const chosen = $<HTMLInputElement>('[name="variantId"]:checked', form) ?? $<HTMLInputElement>('[name="variantId"]', form)
  if (!chosen) return
  const { stock = '', off } = chosen.dataset
  const line = $<HTMLElement>('p[data-stock]', form)
  if (line) line.textContent = stock
  const own = chosen.closest('.chip')?.querySelector('.price') ?? null
  const price = $<HTMLElement>('.amount .price', form)
  if (own && price) {
    price.textContent = own.textContent
    const before = $<HTMLElement>('[data-before]', form)
    if (before) before.hidden = chosen !== $('[name="variantId"][checked]', form)
  }
  const button = $<HTMLButtonElement>('button.main', form)
  if (button && off !== undefined) {
    button.dataset.label ??= off === 'true' && button.disabled ? '' : (button.textContent ?? '')
    button.disabled = off === 'true'
    button.textContent = off === 'true' ? form.dataset.soldOut! : button.dataset.label || button.textContent
  }
  for (const follower of $$<HTMLInputElement>('[data-follows]')) follower.value = chosen.value
  const notify = $<HTMLElement>('[data-notify]')
  if (notify) notify.hidden = !$$<HTMLInputElement>('[name="variantId"]', form).some(({ dataset }) => dataset.off === 'true')
}

function enhance(from: ParentNode) {
  // What works with scripts alone is not offered without them.
  for (const part of $$<HTMLElement>('[data-scripted]', from)) part.hidden = false
  for (const input of $$<HTMLInputElement>('[data-preferred]', from)) input.checked = true
  for (const form of $$<HTMLFormElement>('form[data-async]', from)) {
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      if (form.ariaBusy !== 'true') void send(form, event.submitter)
    })
    const manual = $<HTMLElement>('[data-manual]', form)
    if (manual) manual.hidden = true
    for (const input of $$<HTMLInputElement>('[data-auto]', form)) input.addEventListener('change', () => form.requestSubmit())
    for (const input of $$<HTMLInputElement>('[data-refresh]', form))
      input.addEventListener('change', async () => {
        await fetch(input.dataset.refresh!, {
          method: 'POST',
          body: new URLSearchParams({ shippingMethodId: input.value, from: location.pathname }),
          headers: { accept: 'application/json' },
        })
        const page = await fetch(location.href, { headers: { accept: 'text/html' } })
        swap(await page.text())
      })
  }
  for (const select of $$<HTMLSelectElement>('[data-currency]', from)) {
    select.value = cookie('currency') ?? select.options[0]!.value
    select.addEventListener('change', () => select.form!.requestSubmit())
  }
  for (const form of $$<HTMLFormElement>('form[data-token]', from))
    form.addEventListener(
      'focusin',
      async () => {
        const answer = await fetch('/_shop/forms/token').catch(() => null)
        if (answer?.ok) $<HTMLInputElement>('[name="_form"]', form)!.value = ((await answer.json()) as { token: string }).token
      },
      { once: true },
    )
  lists(from)
}

enhance(root)
count()
const buy = $<HTMLFormElement>('[data-buy]')
if (buy) {
  buy.addEventListener('change', () => choose(buy))
  void refresh(buy)
}
addEventListener('popstate', () => void show(location.href, false))
// A page that comes back from the browser's own memory shows the cart as it is now.
addEventListener('pageshow', count)
