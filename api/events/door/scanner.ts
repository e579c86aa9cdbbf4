/** The page at a door: a camera, a field to type in, and a big green or red. Runs in browsers; the key stays in its memory. */
import decodeQR from 'qr/decode.js'
import { Door, type Verdict } from './door.ts'
import { Line, type Seat } from './line.ts'
import { Scans, tokenIn } from './scans.ts'

/** A code that was out of sight for so long is another scan. */
const AGAIN_MS = 4_000
const SHOWN_MS = 3_500
const LOOK_MS = 150
const SEND_MS = 5_000
const READ_MS = 120_000
/** The longer side of what is looked at, in pixels. */
const LOOKED_AT = 640
const HISTORY_MAX = 20

const $ = <T extends HTMLElement>(id: string) => document.getElementById(id) as T
const event = decodeURIComponent(location.pathname.split('/')[2]!)

function element<K extends keyof HTMLElementTagNameMap>(name: K, text: string, more: Partial<HTMLElementTagNameMap[K]> = {}) {
  return Object.assign(document.createElement(name), { textContent: text, ...more })
}

let door: Door | null = null
let hiding: ReturnType<typeof setTimeout> | undefined

/** Shows how many are in, and what the line does. */
function tell() {
  if (!door) return
  $('event').textContent = door.event
  $('count').textContent = `${door.checkedIn} of ${door.total} in`
  const { waiting } = door
  $('line').textContent = waiting ? `${waiting} waiting for the line` : navigator.onLine ? 'Line is up' : 'No line'
  $('line').dataset.state = waiting || !navigator.onLine ? 'down' : 'up'
}

function show(verdict: Verdict) {
  const panel = $('verdict')
  panel.dataset.state = verdict.isWelcome ? 'welcome' : 'refused'
  $('verdict-title').textContent = verdict.title
  $('verdict-text').textContent = verdict.text
  panel.hidden = false
  navigator.vibrate?.(verdict.isWelcome ? 80 : [80, 80, 240])
  clearTimeout(hiding)
  hiding = setTimeout(() => (panel.hidden = true), SHOWN_MS)
  note(verdict)
  tell()
}

/** One line more in the list of what happened, newest first. */
function note({ isWelcome, title, text, token }: Verdict) {
  const entry = element('li', '')
  entry.append(element('strong', `${isWelcome ? '✓' : '✗'} ${title}`), ' ', element('span', text))
  if (token !== null) {
    const undo = element('button', 'Undo', { type: 'button' })
    undo.onclick = async () => {
      const answer = await door!.undo(token)
      const isDone = answer.kind === 'answer' && answer.status < 300
      undo.replaceWith(isDone ? 'taken back' : answer.kind === 'lost' ? 'no line: try again later' : answer.body?.error)
      tell()
    }
    entry.append(' ', undo)
  }
  const list = $('history')
  list.prepend(entry)
  while (list.children.length > HISTORY_MAX) list.lastElementChild!.remove()
}

async function checkIn(token: string) {
  show(await door!.scan(token))
}

/** The code that the camera saw last, and when: however long a ticket is held before it, that is one scan. */
let seen = { token: '', at: -Infinity }
async function see(token: string) {
  const now = performance.now()
  if (seen.at === Infinity) return
  if (token === seen.token && now - seen.at < AGAIN_MS) {
    seen.at = now
    return
  }
  seen = { token, at: Infinity }
  try {
    await checkIn(token)
  } finally {
    seen = { token, at: performance.now() }
  }
}

/** Looks at what the camera sees, some times a second. */
function look(video: HTMLVideoElement) {
  const canvas = document.createElement('canvas')
  const context = canvas.getContext('2d', { willReadFrequently: true })!
  const once = () => {
    const { videoWidth, videoHeight } = video
    if (videoWidth) {
      const scale = Math.min(1, LOOKED_AT / Math.max(videoWidth, videoHeight))
      canvas.width = Math.round(videoWidth * scale)
      canvas.height = Math.round(videoHeight * scale)
      context.drawImage(video, 0, 0, canvas.width, canvas.height)
      try {
        const token = tokenIn(decodeQR(context.getImageData(0, 0, canvas.width, canvas.height)))
        if (token) void see(token)
      } catch {
        /* nothing in sight that is a code */
      }
    }
    setTimeout(once, LOOK_MS)
  }
  once()
}

async function startCamera() {
  const video = $<HTMLVideoElement>('camera')
  try {
    video.srcObject = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } })
    await video.play()
    look(video)
  } catch {
    $('no-camera').hidden = false
    video.hidden = true
  }
}

/** A guest who was found by name. */
function found(seat: Seat) {
  const entry = element('li', '')
  const state = seat.checkedInAt !== null ? 'in' : seat.orderStatus === 'pending' ? 'not paid' : null
  const button = element('button', state ?? 'Check in', { type: 'button', disabled: state !== null })
  button.onclick = () => {
    $<HTMLInputElement>('typed').value = ''
    $('found').replaceChildren()
    if (seat.token !== null) void checkIn(seat.token)
  }
  entry.append(element('span', seat.name ?? 'No name'), ' ', button)
  return entry
}

async function start(form: SubmitEvent) {
  form.preventDefault()
  const field = $<HTMLInputElement>('key')
  const line = new Line(event, field.value.trim())
  const at = new Door(line, new Scans(localStorage, event), $<HTMLInputElement>('by').value.trim(), show)
  const answer = await at.read()
  if (answer.kind === 'lost' || answer.status !== 200) {
    $('start-error').textContent =
      answer.kind === 'lost' ? 'There is no line to the server.' : (answer.body?.error ?? String(answer.status))
    return
  }
  field.value = ''
  door = at
  $('start').hidden = true
  $('at-work').hidden = false
  tell()
  const again = async () => {
    if (door!.waiting) await door!.send()
    tell()
  }
  void again()
  setInterval(again, SEND_MS)
  setInterval(async () => {
    await door!.read()
    tell()
  }, READ_MS)
  for (const name of ['online', 'offline']) addEventListener(name, again)
  await startCamera()
}

$('start').onsubmit = (form) => void start(form)
$('typing').onsubmit = (form) => {
  form.preventDefault()
  const token = tokenIn($<HTMLInputElement>('typed').value)
  if (!token) return
  $<HTMLInputElement>('typed').value = ''
  void checkIn(token)
}
$('verdict').onclick = () => ($('verdict').hidden = true)
$('typed').oninput = () => {
  const { value } = $<HTMLInputElement>('typed')
  $('found').replaceChildren(...(tokenIn(value) ? [] : door!.named(value).map(found)))
}
// Whoever leaves while scans wait is asked; they are there again when the page is.
addEventListener('beforeunload', (leaving) => {
  if (door?.waiting) leaving.preventDefault()
})
