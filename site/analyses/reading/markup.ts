/**
 * What the source of a page says, read in one pass by htmlparser2's tokenizer: its time grows with the page and with nothing else, for no
 * tree is built that hostile nesting could make deep.
 */
import { Tokenizer } from 'htmlparser2'

export type Attributes = ReadonlyMap<string, string>

export interface ScriptElement {
  /** Null: it stands in the page. */
  src: string | null
  attributes: Attributes
  /** Of one that stands in the page. */
  text: string
}

/** More elements of a kind than this are not kept: no shop has so many. */
const KEPT_MAX = 1_000
/** Elements whose attributes say something. */
const TOLD = new Set(['html', 'base', 'meta', 'link', 'script'])
const ITEM_TYPE = 'itemtype'
const ATTRIBUTES_MAX = 100
/** Of a title: each entity is one. */
const TITLE_PARTS_MAX = 5_000
const NONE: Attributes = new Map()
/** `<a>`, in characters. */
const TAG_LEAST = 3
/** How often a text is looked at that stands in no tag. */
const TRIES_MAX = 1_000
const SPACE = 32
/** Elements whose text nobody sees. */
const UNSEEN = new Set(['script', 'style', 'noscript', 'template', 'svg', 'title', 'textarea', 'head', 'iframe', 'object'])

/** Elements that say something. */
const NAMES = new Set([...TOLD, ...UNSEEN, 'body', 'frameset'])
const [NAME_LEAST, NAME_MOST] = ['svg'.length, 'noscript'.length]

export class Markup {
  title: string | null = null
  lang: string | null = null
  base: string | null = null
  readonly metas: Attributes[] = []
  readonly links: Attributes[] = []
  readonly scripts: ScriptElement[] = []
  /** Values of `itemtype`: microdata. */
  readonly itemTypes: string[] = []
  /** Characters that a reader without scripts sees, white space left out. */
  textLength = 0
  /** Whether the head is over. */
  isHeadOver = false

  #text = ''
  #name = ''
  #tagStart = 0
  #attribute = ''
  #value = ''
  #attributes: Attributes = NONE
  /** Whether the attributes of the tag that is read say something, and whether the one that is read does. */
  #isTold = false
  #isWanted = false
  /** How many of the elements whose text is unseen are open, by name. */
  readonly #unseen = new Map<string, number>()
  #titleText: string[] | null = null
  #script: ScriptElement | null = null
  #scriptText: string[] = []
  /** Of each start tag where it begins and ends. */
  #tags = new Int32Array(0)
  #tagCount = 0
  readonly #tokenizer: Tokenizer

  /** `headOnly`: nothing is read behind the head. */
  constructor(readonly headOnly = false) {
    const nothing = () => {}
    this.#tokenizer = new Tokenizer({ xmlMode: false, decodeEntities: true }, {
      onattribdata: (start, end) => {
        if (this.#isWanted) this.#value += this.#text.slice(start, end)
      },
      onattribentity: (codepoint) => {
        if (this.#isWanted) this.#value += String.fromCodePoint(codepoint)
      },
      onattribname: (start, end) => this.#attributeBegun(start, end),
      onattribend: () => this.#attributeOver(),
      onopentagname: (start, end) => {
        this.#tagStart = start - 1
        this.#name = this.#nameIn(start, end)
        this.#attributes = NONE
        this.#isTold = TOLD.has(this.#name)
      },
      onopentagend: (end) => this.#opened(end, false),
      onselfclosingtag: (end) => this.#opened(end, true),
      onclosetag: (start, end) => this.#closed(this.#nameIn(start, end)),
      ontext: (start, end) => this.#said(start, end),
      ontextentity: (codepoint) => this.#saidOne(String.fromCodePoint(codepoint)),
      oncdata: nothing,
      oncomment: nothing,
      ondeclaration: nothing,
      onprocessinginstruction: nothing,
      onend: nothing,
    } as ConstructorParameters<typeof Tokenizer>[1])
  }

  /** Reads on. */
  write(text: string): void {
    if (this.headOnly && this.isHeadOver) return
    this.#text += text
    if (!this.headOnly) this.#makeRoom()
    this.#tokenizer.write(text)
  }

  /** Room for as many start tags as the source can have: what is not used of it is never touched. */
  #makeRoom() {
    const room = new Int32Array(2 * Math.ceil(this.#text.length / TAG_LEAST))
    room.set(this.#tags.subarray(0, 2 * this.#tagCount))
    this.#tags = room
  }

  /** The source is over. */
  end(): this {
    this.#tokenizer.end()
    this.#closed('title')
    this.#closed('script')
    return this
  }

  /** Whether some start tag has a text in its source. */
  hasTagWith(text: string): boolean {
    let at = this.#text.indexOf(text)
    for (let tries = 0; at >= 0 && tries < TRIES_MAX; tries++, at = this.#text.indexOf(text, at + 1))
      if (this.#isInTag(at, at + text.length)) return true
    return false
  }

  /** Whether a part of the source lies in one start tag: the last one that begins before it. */
  #isInTag(from: number, to: number): boolean {
    let [low, high] = [0, this.#tagCount]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#tags[2 * middle]! <= from) low = middle + 1
      else high = middle
    }
    return low > 0 && to <= this.#tags[2 * low - 1]!
  }

  /** Where a start tag begins and ends in the source. */
  #tag(start: number, end: number) {
    this.#tags[2 * this.#tagCount] = start
    this.#tags[2 * this.#tagCount++ + 1] = end
  }

  /** The name of an element that says something; of the others, of which a page can have a million, nothing is made. */
  #nameIn(start: number, end: number): string {
    if (end - start < NAME_LEAST || end - start > NAME_MOST) return ''
    const name = this.#text.slice(start, end).toLowerCase()
    return NAMES.has(name) ? name : ''
  }

  #attributeBegun(start: number, end: number) {
    // `itemtype` alone says something on any element.
    this.#isWanted = this.#attributes.size < ATTRIBUTES_MAX && (this.#isTold || end - start === ITEM_TYPE.length)
    if (!this.#isWanted) return
    this.#attribute = this.#text.slice(start, end).toLowerCase()
    // The first one of a name counts, as in browsers.
    this.#isWanted = (this.#isTold || this.#attribute === ITEM_TYPE) && !this.#attributes.has(this.#attribute)
    this.#value = ''
  }

  #attributeOver() {
    if (!this.#isWanted) return
    if (this.#attributes === NONE) this.#attributes = new Map()
    ;(this.#attributes as Map<string, string>).set(this.#attribute, this.#value)
    this.#isWanted = false
  }

  #isIn(name: string): boolean {
    return (this.#unseen.get(name) ?? 0) > 0
  }

  #opened(end: number, isClosed: boolean) {
    const [name, attributes] = [this.#name, this.#attributes]
    if (!this.headOnly) this.#tag(this.#tagStart, end + 1)
    if (name === 'body' || name === 'frameset') this.#headOver()
    // An element of a drawing may close itself; others don't.
    if (UNSEEN.has(name) && !(isClosed && (name === 'svg' || this.#isIn('svg')))) this.#unseen.set(name, (this.#unseen.get(name) ?? 0) + 1)
    const isInert = this.#isIn('template')
    if (name === 'html') this.lang ??= attributes.get('lang') ?? null
    if (name === 'title' && this.title === null && !this.#isIn('svg') && !isInert) this.#titleText = []
    if (attributes.has(ITEM_TYPE) && this.itemTypes.length < KEPT_MAX) this.itemTypes.push(attributes.get(ITEM_TYPE)!)
    if (isInert) return
    if (name === 'base') this.base ??= attributes.get('href') ?? null
    if (name === 'meta' && this.metas.length < KEPT_MAX && !this.#isIn('noscript')) this.metas.push(attributes)
    if (name === 'link' && this.links.length < KEPT_MAX) this.links.push(attributes)
    if (name === 'script') {
      this.#script = { src: attributes.get('src') ?? null, attributes, text: '' }
      this.#scriptText = []
    }
  }

  #closed(name: string) {
    const open = this.#unseen.get(name) ?? 0
    if (open > 0) this.#unseen.set(name, open - 1)
    if (name === 'head') {
      this.#unseen.delete('head')
      this.#headOver()
    }
    if (name === 'title' && this.#titleText) {
      this.title = this.#titleText.join('')
      this.#titleText = null
    }
    if (name === 'script' && this.#script) {
      this.#script.text = this.#scriptText.join('')
      if (this.scripts.length < KEPT_MAX) this.scripts.push(this.#script)
      this.#script = null
    }
  }

  #headOver() {
    this.#unseen.delete('head')
    this.isHeadOver = true
    if (this.headOnly) this.#tokenizer.pause()
  }

  #said(start: number, end: number) {
    if (this.#titleText || this.#script) this.#saidOne(this.#text.slice(start, end))
    else if (this.#isSeen()) for (let at = start; at < end; at++) if (this.#text.charCodeAt(at) > SPACE) this.textLength++
  }

  #saidOne(text: string) {
    if (this.#titleText) this.#titleText.length < TITLE_PARTS_MAX && this.#titleText.push(text)
    else if (this.#script) this.#scriptText.push(text)
    else if (this.#isSeen() && text.trim()) this.textLength++
  }

  #isSeen(): boolean {
    for (const open of this.#unseen.values()) if (open > 0) return false
    return true
  }
}
