/** Pays an order at Stripe, whose own element takes the card: nothing of it comes near the shop. */
export {}

interface Elements {
  create(kind: 'payment'): { mount(place: HTMLElement): void }
}
interface Stripe {
  elements(options: object): Elements
  confirmPayment(options: {
    elements: Elements
    confirmParams: { return_url: string }
    redirect: 'if_required'
  }): Promise<{ error?: { message?: string } }>
}
type WithStripe = typeof globalThis & { Stripe?: (key: string, options: { locale: string }) => Stripe }

/** What the shop says of the order: it is to be paid, Stripe is at it, or it is paid. */
interface Step {
  step?: 'pay' | 'wait' | 'done'
  clientSecret?: string
}

/** So often it is asked whether a bank is done. */
const [LOOK_MS, LOOKS_MAX] = [4_000, 30]

const part = document.querySelector<HTMLElement>('[data-pay]')

async function pay(place: HTMLElement) {
  const { key, token, waiting, failed } = place.dataset as Record<string, string>
  const form = place.querySelector('form')!
  const said = place.querySelector<HTMLElement>('[data-said]')!
  const say = (text: string) => {
    said.textContent = text
    said.hidden = false
  }
  const page = location.pathname
  const ask = async (): Promise<Step> => {
    const answer = await fetch('/_shop/order/payment', {
      method: 'POST',
      body: new URLSearchParams({ token: token!, from: page }),
      headers: { accept: 'application/json' },
    })
    return (await answer.json()) as Step
  }
  /** The page as it is once the order is paid; until then it says so. */
  let looked = 0
  const next = ({ step }: Step) => {
    if (step === 'done') return location.replace(page)
    say(waiting!)
    if (++looked < LOOKS_MAX) setTimeout(() => void ask().then(next, () => {}), LOOK_MS)
  }
  const now = await ask()
  if (now.step !== 'pay' || !now.clientSecret) return now.step ? next(now) : say(failed!)
  await load('https://js.stripe.com/v3/')
  const stripe = (globalThis as WithStripe).Stripe!(key!, { locale: document.documentElement.lang.split('-')[0]! })
  const elements = stripe.elements({ clientSecret: now.clientSecret, appearance: appearance() })
  elements.create('payment').mount(place.querySelector<HTMLElement>('[data-element]')!)
  form.hidden = false
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    if (form.ariaBusy === 'true') return
    form.ariaBusy = 'true'
    said.hidden = true
    try {
      const confirmParams = { return_url: location.origin + page }
      const { error } = await stripe.confirmPayment({ elements, confirmParams, redirect: 'if_required' })
      if (error) say(error.message ?? failed!)
      else next(await ask())
    } catch {
      say(failed!)
    } finally {
      form.ariaBusy = null
    }
  })
}

const load = (src: string) =>
  new Promise<void>((done, fail) => {
    const script = Object.assign(document.createElement('script'), { src, onload: () => done(), onerror: () => fail(new Error(src)) })
    document.head.append(script)
  })

/** The element in the colours of the shop. */
function appearance() {
  const style = getComputedStyle(document.body)
  const own = (name: string) => style.getPropertyValue(name).trim()
  return {
    theme: matchMedia('(prefers-color-scheme: dark)').matches ? 'night' : 'stripe',
    variables: {
      colorPrimary: own('--accent'),
      colorBackground: style.backgroundColor,
      colorText: style.color,
      fontFamily: style.fontFamily,
    },
  }
}

if (part)
  pay(part).catch(() => {
    const said = part.querySelector<HTMLElement>('[data-said]')!
    said.textContent = part.dataset.failed ?? ''
    said.hidden = false
  })
