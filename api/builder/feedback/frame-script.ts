/**
 * Runs in the pages of a preview while it is shown in a review: draws the pins, and lets an element be picked, by a click or with the
 * keyboard. It speaks with the one origin that the host has written beside it, and with nothing else.
 */
import { described, isSeen, pickable, selectorOf } from './describe-element.ts'
import type { Drawn, FromFrame, ToFrame } from './message.ts'

const origin = (document.currentScript as HTMLScriptElement | null)?.dataset.origin
const tell = (message: FromFrame) => parent.postMessage(message, origin!)

const STYLE = `:host{all:initial;position:absolute;top:0;left:0;z-index:2147483647;font:600 14px/1 system-ui,sans-serif}
[hidden]{display:none!important}.pin{position:absolute;width:30px;height:30px;margin:-15px 0 0 -15px;padding:0;border:2px solid #fff;border-radius:50% 50% 50% 4px;background:#0b57d0;color:#fff;font:inherit;cursor:pointer;box-shadow:0 1px 4px #0008}
:host([data-picks]) .pin{pointer-events:none;opacity:.6}.pin:focus-visible,.pin[data-shown]{outline:3px solid #ffb300;outline-offset:2px}
.box{position:absolute;border:3px solid #0b57d0;border-radius:4px;background:#0b57d022;pointer-events:none}
.said{position:fixed;left:8px;right:8px;bottom:8px;margin:0 auto;max-width:36rem;padding:10px 14px;border-radius:8px;background:#1c1b19;color:#fff;line-height:1.4;font-weight:400;pointer-events:none}.keys{position:fixed;top:0;left:0;width:1px;height:1px;outline:none;pointer-events:none}`

const host = document.createElement('stoa-review')
const root = host.attachShadow({ mode: 'open' })
const part = <K extends keyof HTMLElementTagNameMap>(name: K, className: string) =>
  Object.assign(document.createElement(name), { className })
const [style, pins, box, keys, said] = [part('style', ''), part('div', ''), part('div', 'box'), part('div', 'keys'), part('p', 'said')]
style.textContent = STYLE
keys.tabIndex = -1
keys.setAttribute('role', 'application')
keys.setAttribute('aria-label', 'Pick an element: arrow keys move, Enter pins, Escape leaves')
said.setAttribute('role', 'status')
box.hidden = said.hidden = true
root.append(style, pins, box, keys, said)

let drawn: Drawn[] = []
let picks = false
/** The pin that was asked for last. */
let chosen: string | null = null
/** The element that the keyboard is at, and the last that was pointed at. */
let current: Element | null = null

function place(element: Element, { x, y }: { x: number; y: number }) {
  const { left, top, width, height } = element.getBoundingClientRect()
  return { left: `${left + scrollX + x * width}px`, top: `${top + scrollY + y * height}px` }
}

function found(selector: string): Element | null {
  try {
    return document.querySelector(selector)
  } catch {
    return null
  }
}

/** Puts every pin where its element is now; one whose element is gone is not shown. */
function draw() {
  for (const [i, pin] of drawn.entries()) {
    const button = pins.children[i] as HTMLElement | undefined
    const element = found(pin.selector)
    if (!button) continue
    button.hidden = !element || !isSeen(element)
    if (element) Object.assign(button.style, place(element, pin))
  }
  if (picks && current) outline(current)
}

function setPins(all: Drawn[]) {
  drawn = all
  const buttons = all.map(({ id, number }) => {
    const button = part('button', 'pin')
    button.type = 'button'
    button.textContent = String(number)
    button.setAttribute('aria-label', `Comment ${number}`)
    button.onclick = () => tell({ kind: 'chosen', id })
    return button
  })
  pins.replaceChildren(...buttons)
  mark()
  draw()
}

function outline(element: Element) {
  const { left, top, width, height } = element.getBoundingClientRect()
  const at = { left: left + scrollX - 3, top: top + scrollY - 3, width, height }
  for (const [name, value] of Object.entries(at)) box.style.setProperty(name, `${value}px`)
  box.hidden = false
}

function setPicking(on: boolean) {
  picks = on
  current = null
  host.toggleAttribute('data-picks', on)
  box.hidden = true
  said.hidden = !on
  said.textContent = on ? 'Click what you mean, or use the arrow keys and Enter. Escape leaves.' : ''
  document.documentElement.style.cursor = on ? 'crosshair' : ''
  if (!on) return keys.blur()
  focus()
  keys.focus({ preventScroll: true })
}

const share = (value: number, size: number) => (size > 0 ? Math.min(1, Math.max(0, Math.round((value / size) * 1e4) / 1e4)) : 0.5)

function pick(element: Element, point: { clientX: number; clientY: number } | null) {
  const { left, top, width, height } = element.getBoundingClientRect()
  const [x, y] = point ? [share(point.clientX - left, width), share(point.clientY - top, height)] : [0.5, 0.5]
  setPicking(false)
  tell({
    kind: 'picked',
    pin: { selector: selectorOf(element), x, y, viewportWidth: Math.max(1, innerWidth), element: described(element) },
  })
}

/** What a pointer means: the element under it, unless that is a pin. */
const pointed = (event: Event): Element | null => {
  const [target] = event.composedPath()
  return target instanceof Element && target.getRootNode() === document ? target : null
}

function onPointer(event: MouseEvent) {
  if (!picks) return
  const element = pointed(event)
  if (event.type === 'pointermove') {
    if (element) outline((current = element))
    return
  }
  // Nothing of the page happens while one picks: no link is followed, no form is sent.
  event.preventDefault()
  event.stopImmediatePropagation()
  if (event.type === 'click' && element) pick(element, event)
}

/** Moves the keyboard's mark by so many elements, round at the ends. */
function step(by: number, from = current) {
  const all = pickable()
  if (!all.length) return
  const at = from ? all.indexOf(from) : -1
  const next = all[((((at < 0 && by < 0 ? 0 : at) + by) % all.length) + all.length) % all.length]!
  current = next
  next.scrollIntoView({ block: 'center' })
  outline(next)
  said.textContent = `${described(next)}, ${all.indexOf(next) + 1} of ${all.length}`
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }

function onKey(event: KeyboardEvent) {
  if (!picks || event.ctrlKey || event.metaKey || event.altKey) return
  const by = event.key === 'Tab' ? (event.shiftKey ? -1 : 1) : STEPS[event.key]
  if (by !== undefined) step(by)
  else if (event.key === 'Home') step(1, null)
  else if (event.key === 'End') step(-1, null)
  else if (event.key === 'Enter' && current) pick(current, null)
  else if (event.key === 'Escape') {
    setPicking(false)
    tell({ kind: 'left' })
  } else if (event.key !== 'Enter') return
  event.preventDefault()
  event.stopImmediatePropagation()
}

/** Marks the pin that was asked for, and gives it. */
function mark(): Element | undefined {
  const at = drawn.findIndex(({ id }) => id === chosen)
  for (const [i, pin] of [...pins.children].entries()) pin.toggleAttribute('data-shown', i === at)
  return pins.children[at]
}

function show(id: string) {
  chosen = id
  mark()?.scrollIntoView({ block: 'center', inline: 'nearest' })
}

function onMessage(event: MessageEvent) {
  if (event.origin !== origin || event.source !== parent) return
  const message = event.data as ToFrame
  if (message.kind === 'pins') setPins(message.pins)
  else if (message.kind === 'pick') setPicking(message.on)
  else if (message.kind === 'show') show(message.id)
}

function start() {
  document.documentElement.append(host)
  addEventListener('message', onMessage)
  for (const name of ['pointermove', 'pointerdown', 'pointerup', 'mousedown', 'mouseup', 'click', 'auxclick'] as const)
    addEventListener(name, onPointer as EventListener, { capture: true })
  addEventListener('keydown', onKey, { capture: true })
  let due = false
  const soon = () => {
    if (due) return
    due = true
    requestAnimationFrame(() => {
      due = false
      draw()
    })
  }
  // The page may change below the pins: pictures that load, parts that open.
  new ResizeObserver(soon).observe(document.body)
  for (const name of ['resize', 'load', 'toggle'] as const) addEventListener(name, soon, { capture: true })
  const hello = () => tell({ kind: 'page', path: location.pathname + location.search })
  hello()
  addEventListener('pageshow', hello)
}

if (origin && parent !== window) start()
