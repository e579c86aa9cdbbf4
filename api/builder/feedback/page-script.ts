/** The page of a review: the preview in a frame, and the comments beside it. Runs in browsers; every text of others is shown as text. */
import { fromFrame, type Picked, type ToFrame } from './message.ts'

interface Comment {
  id: string
  content: string
  author: string | null
  pagePath: string
  pin: Picked | null
  mine: boolean
  createdAt: string
}
interface Answer {
  status: number
  body: any
}

const READ_MS = 15_000
/** How wide a preview is, in pixels; a desktop takes all the room that there is. */
const WIDTHS: Readonly<Record<string, number>> = { phone: 390, tablet: 820, desktop: 1_280 }

const $ = <T extends HTMLElement>(id: string) => document.getElementById(id) as T
const { preview = '', status = '' } = document.body.dataset
const isOpen = status === 'in_progress'
const frame = document.getElementById('preview') as HTMLIFrameElement | null
const origin = preview ? new URL(preview).origin : ''

function element<K extends keyof HTMLElementTagNameMap>(name: K, text: string, more: Partial<HTMLElementTagNameMap[K]> = {}) {
  return Object.assign(document.createElement(name), { textContent: text, ...more })
}

let comments: Comment[] = []
/** The page that the frame shows. */
let path = '/'
let picks = false
/** What the comment that is being written is about; null: the page as a whole. */
let picked: Picked | null = null
/** The pin to show once the frame has its page. */
let wanted: string | null = null

const tell = (message: ToFrame) => frame?.contentWindow?.postMessage(message, origin)
const say = (text: string) => ($('said').textContent = text)

async function ask(method: string, below: string, body?: unknown): Promise<Answer> {
  try {
    const response = await fetch(`${location.pathname}/${below}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    const text = await response.text()
    return { status: response.status, body: text ? JSON.parse(text) : null }
  } catch {
    return { status: 0, body: { error: 'there is no connection to the server' } }
  }
}

const numberOf = (comment: Comment) => comments.indexOf(comment) + 1

/** Gives the frame the pins of the page that it shows. */
function pin() {
  const pins = comments.flatMap((comment) => {
    if (!comment.pin || comment.pagePath !== path) return []
    const { selector, x, y } = comment.pin
    return [{ id: comment.id, number: numberOf(comment), selector, x, y }]
  })
  tell({ kind: 'pins', pins })
  if (wanted) tell({ kind: 'show', id: wanted })
  wanted = null
}

/** Shows the place of a comment: the page that it is on, and its pin. */
function visit({ id, pagePath }: Comment) {
  wanted = id
  // A path alone: whatever is written in it, it leads nowhere else than to the preview.
  if (pagePath === path) pin()
  else if (frame) frame.src = origin + pagePath
}

async function remove(comment: Comment) {
  const { status: answered, body } = await ask('DELETE', `comments/${comment.id}`)
  say(answered < 300 && answered > 0 ? 'Your comment is gone.' : `That did not work: ${body?.error}`)
  await read()
  $('comments-title').focus()
}

function entryOf(comment: Comment) {
  const entry = element('li', '', { id: `comment-${comment.id}`, tabIndex: -1 })
  const head = element('p', '', { className: 'head' })
  head.append(
    element('strong', `${numberOf(comment)}. ${comment.author ?? 'Somebody'}`),
    element('small', ` on ${comment.pagePath}${comment.pin ? `, ${comment.pin.element}` : ''}`),
  )
  const tools = element('p', '', { className: 'tools' })
  const name = `comment ${numberOf(comment)}`
  if (frame) {
    const see = element('button', 'Show', { type: 'button', onclick: () => visit(comment) })
    see.setAttribute('aria-label', `Show ${name}`)
    tools.append(see)
  }
  if (comment.mine && isOpen) {
    const drop = element('button', 'Delete', { type: 'button', onclick: () => void remove(comment) })
    drop.setAttribute('aria-label', `Delete ${name}`)
    tools.append(drop)
  }
  entry.append(head, element('p', comment.content, { className: 'text' }), tools)
  return entry
}

function list() {
  $('count').textContent = String(comments.length)
  $('none').hidden = comments.length > 0
  $('comments').replaceChildren(...comments.map(entryOf))
  pin()
}

const isWriting = () => isOpen && $<HTMLTextAreaElement>('content').value.trim() !== ''

async function read() {
  const answer = await ask('GET', 'comments')
  if (answer.status !== 200) return
  if (answer.body.status !== status) {
    // What is half written is not taken away: it can be copied, though not be sent any more.
    if (isWriting()) say('This review is not open any more.')
    else location.reload()
    return
  }
  if (JSON.stringify(answer.body.data) === JSON.stringify(comments)) return
  comments = answer.body.data
  list()
}

function setPicking(on: boolean) {
  picks = on
  $('pick').setAttribute('aria-pressed', String(on))
  if (on) {
    say('Click what you mean in the preview, or use the arrow keys and Enter.')
    frame?.scrollIntoView({ block: 'nearest' })
    frame?.focus()
  }
  tell({ kind: 'pick', on })
}

function compose(about: Picked | null) {
  picked = about
  $('about').textContent = about ? `On ${path}: ${about.element}` : `On ${path}, as a whole`
  $('compose').hidden = false
  $('content').focus()
}

function leave() {
  $<HTMLTextAreaElement>('content').value = ''
  $('compose').hidden = true
  $('pick').focus()
}

async function send(event: SubmitEvent) {
  event.preventDefault()
  const button = $<HTMLButtonElement>('send')
  if (button.disabled) return
  button.disabled = true
  const [content, author] = [$<HTMLTextAreaElement>('content').value, $<HTMLInputElement>('author').value]
  const { status: answered, body } = await ask('POST', 'comments', { content, author: author || null, pagePath: path, pin: picked })
  button.disabled = false
  if (answered !== 201) return say(`That did not work: ${body?.error}`)
  say('Your comment is there.')
  leave()
  await read()
}

async function submit() {
  $<HTMLDialogElement>('sure').close()
  const { status: answered, body } = await ask('POST', 'submit')
  if (answered === 200) location.reload()
  else say(`That did not work: ${body?.error}`)
}

/** Shows the preview as wide as a device is: what has no room for that is made smaller. */
function resize() {
  const chosen = document.querySelector<HTMLInputElement>('input[name=width]:checked')?.value ?? 'desktop'
  const stage = $('stage')
  const [room, height] = [stage.clientWidth, stage.clientHeight]
  const width = chosen === 'desktop' ? Math.max(WIDTHS.desktop!, room) : WIDTHS[chosen]!
  const scale = Math.min(1, room / width)
  const left = Math.max(0, (room - width * scale) / 2)
  Object.assign(frame!.style, {
    width: `${width}px`,
    height: `${height / scale}px`,
    transform: `translateX(${left}px) scale(${scale})`,
  })
}

function onMessage(event: MessageEvent) {
  if (!origin || event.origin !== origin || event.source !== frame?.contentWindow) return
  const message = fromFrame(event.data)
  if (message?.kind === 'page') {
    path = message.path
    $('path').textContent = path
    pin()
    if (picks) setPicking(true)
  } else if (message?.kind === 'picked' && picks) {
    setPicking(false)
    compose(message.pin)
  } else if (message?.kind === 'left' && picks) {
    setPicking(false)
    say('')
    $('pick').focus()
  } else if (message?.kind === 'chosen') document.getElementById(`comment-${message.id}`)?.focus()
}

function beginFrame() {
  addEventListener('message', onMessage)
  const fits = innerWidth < 640 ? 'phone' : innerWidth < 1_100 ? 'tablet' : 'desktop'
  $<HTMLInputElement>(`width-${fits}`).checked = true
  for (const input of document.querySelectorAll<HTMLInputElement>('input[name=width]')) input.onchange = resize
  new ResizeObserver(resize).observe($('stage'))
  resize()
  // Only now: its first message must find somebody who listens.
  frame!.src = `${preview}/`
}

function beginWriting() {
  $('pick').onclick = () => setPicking(!picks)
  $('whole').onclick = () => {
    if (picks) setPicking(false)
    compose(null)
  }
  $('compose').onsubmit = (event) => void send(event)
  $('leave').onclick = leave
  $('submit').onclick = () => $<HTMLDialogElement>('sure').showModal()
  $('no').onclick = () => $<HTMLDialogElement>('sure').close()
  $('yes').onclick = () => void submit()
  addEventListener('keydown', ({ key }: KeyboardEvent) => key === 'Escape' && picks && setPicking(false))
  addEventListener('beforeunload', (leaving) => isWriting() && leaving.preventDefault())
}

if (frame) beginFrame()
if (isOpen) beginWriting()
void read()
setInterval(() => document.visibilityState === 'visible' && void read(), READ_MS)
