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
/** A name is looked for once nothing more is typed for so long. */
const TYPING_MS = 250
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
  $('line').textContent = waiting ? `${waiting} to be sent` : navigator.onLine ? 'Online' : 'Offline'
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

/** The line of a scan in the list of what happened. */
function entryOf({ isWelcome, title, text, token }: Verdict) {
  const entry = element('li', '')
  entry.append(element('strong', `${isWelcome ? '✓' : '✗'} ${title}`), ' ', element('span', text))
  if (token === null) return entry
  const [undo, said] = [element('button', 'Undo', { type: 'button' }), element('span', '')]
  undo.onclick = async () => {
    const answer = await door!.undo(token)
    const isDone = answer.kind === 'answer' && (answer.status < 300 || answer.status === 404)
    if (isDone) undo.remove()
    said.textContent = isDone ? ' – taken back' : answer.kind === 'lost' ? ' – offline: try again' : ` – ${answer.body?.error}`
    tell()
  }
  entry.append(' ', undo, said)
  return entry
}

/** Puts a verdict into the list, newest first; what was said of a scan before stands there no more. */
function note(verdict: Verdict) {
  const entry = entryOf(verdict)
  entry.dataset.scan = verdict.scanId
  const list = $('history')
  const before = list.querySelector(`[data-scan="${verdict.scanId}"]`)
  if (before) before.replaceWith(entry)
  else list.prepend(entry)
  while (list.children.length > HISTORY_MAX) list.lastElementChild!.remove()
}

/** What the server says at last of somebody who was let in without it: bad news fills the page. */
function correct(verdict: Verdict) {
  if (verdict.isWelcome) note(verdict)
  else show(verdict)
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
  const button = element('button', state ?? 'Check in', { type: 'button', disabled: state !== null || seat.token === null })
  button.onclick = () => {
    $<HTMLInputElement>('typed').value = ''
    $('found').replaceChildren()
    void checkIn(seat.token!)
  }
  const who = element('span', seat.name ?? 'No name')
  who.append(element('br', ''), element('small', seat.email))
  entry.append(who, ' ', button)
  return entry
}

let asked = 0
/** Shows who has a name like what is typed; an answer that comes after a later question is none. */
async function search() {
  const { value } = $<HTMLInputElement>('typed')
  const own = ++asked
  const guests = tokenIn(value) || !value.trim() ? null : await door!.named(value)
  if (own !== asked) return
  const none = element('li', 'Nobody has a name or an address like that, and no code is so short.')
  $('found').replaceChildren(...(guests === null ? [] : guests.length ? guests.map(found) : [none]))
}

async function start(form: SubmitEvent) {
  form.preventDefault()
  const field = $<HTMLInputElement>('key')
  const line = new Line(event, field.value.trim())
  const at = new Door(line, new Scans(localStorage, event), $<HTMLInputElement>('by').value.trim(), correct)
  const answer = await at.read()
  if (answer.kind === 'lost' || answer.status !== 200) {
    $('start-error').textContent =
      answer.kind === 'lost' ? 'There is no connection to the server.' : (answer.body?.error ?? String(answer.status))
    return
  }
  field.value = ''
  door = at
  $('start').hidden = true
  $('at-work').hidden = false
  tell()
  if (at.waiting) note({ isWelcome: true, title: `${at.waiting} from before`, text: 'are sent now', token: null, waits: true, scanId: '' })
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
  if (!token) return void search()
  $<HTMLInputElement>('typed').value = ''
  void checkIn(token)
}
let typing: ReturnType<typeof setTimeout> | undefined
$('typed').oninput = () => {
  clearTimeout(typing)
  typing = setTimeout(search, TYPING_MS)
}
// Whoever leaves while scans wait is asked; they are there again when the page is.
addEventListener('beforeunload', (leaving) => {
  if (door?.waiting) leaving.preventDefault()
})
