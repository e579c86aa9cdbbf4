/**
 * The search over the passages of all pages: SQLite's full-text index (FTS5), written with each build and opened by the first who
 * searches. What one search can cost is bounded by its words and by the passages that are ranked, not by what matches.
 */
import { Database, type Statement } from 'bun:sqlite'
import { phrasesOf } from '../../api/values/phrases.ts'
import type { Passage } from './passages.ts'

/** The file of the index, beside the folder of the site's files. */
export const INDEX = 'search.db'
/** The longest text that can be searched for, in characters. */
export const QUERY_MAX = 200
/** How many passages are found at most, and unless told otherwise. */
export const FOUND_MAX = 50
export const FOUND = 10
/** Passages that one search ranks at most; of a word that more of them have, those of the first pages are ranked. */
const RANKED_MAX = 1_000
/** A page with the same words everywhere would leave no room for others. */
const OF_A_PAGE = 3
const EXCERPT_WORDS = 40
/** How much a word in the title and in the heading counts more than one in the text. */
const RANK = 'bm25(passages, 6.0, 4.0, 1.0)'

/** How much more a passage is worth whose title, or whose heading, is what was asked for. */
const TITLE = 1.5
const HEADING = 2
/** What comes before all else: the beginning of the page whose title was typed, then of one whose title means the same. */
const TYPED = 1_000
const MEANT = 500
/** How much of what the best passages of a page are worth together counts for each of them: a page about something has it in many places. */
const OF_PAGE = 0.4
const PASSAGES_OF_PAGE = 6
/** Tables of the reference, releases and thoughts explain less than pages do; what is planned is of no use yet. */
const WORTH: readonly (readonly [test: (row: Ranked) => boolean, worth: number])[] = [
  [({ planned }) => planned === 1, 0.4],
  [({ area }) => area === 'changelog', 0.6],
  [({ area }) => area === 'blog', 0.75],
  // Who wants a client for it says so.
  [({ path }) => path.startsWith('/docs/commerce-sdk/'), 0.85],
  [({ path }) => path.endsWith('-operations'), 0.7],
  [({ anchor }) => anchor === 'operations' || anchor === 'related', 0.7],
]

export interface Found {
  /** The page's, with the anchor of the passage: `/docs/api-reference/coupons#limits`. */
  path: string
  /** The part of the site: `docs`, `help`, `blog` or `changelog`. */
  section: string
  title: string
  heading: string
  excerpt: string
  /** Of something that is not in this release. */
  planned: boolean
  /** More is better; it compares passages of one search. */
  score: number
}

/** A new file with the index of passages, as they come; it can be searched once it is finished. */
export class IndexWriter {
  readonly #database: Database
  readonly #insert: Statement

  constructor(file: string) {
    this.#database = new Database(file)
    // A file that is not whole is thrown away with its build.
    this.#database.run('pragma journal_mode = off; pragma synchronous = off')
    this.#database.run(
      `create virtual table passages using fts5(title, heading, text, area unindexed, path unindexed, anchor unindexed, planned unindexed, tokenize = 'porter unicode61')`,
    )
    this.#insert = this.#database.prepare('insert into passages values (?, ?, ?, ?, ?, ?, ?)')
    this.#database.run('begin')
  }

  add(passages: Iterable<Passage>) {
    for (const { title, heading, text, area, path, anchor, isPlanned } of passages)
      this.#insert.run(title, heading, text, area, path, anchor, isPlanned ? 1 : 0)
  }

  /** `words` are what readers call things, each with the words of the pages. */
  finish(words: Readonly<Record<string, readonly string[]>> = {}) {
    this.#database.run('commit')
    this.#database.run(`insert into passages (passages) values ('optimize')`)
    this.#database.run('create table words (word text primary key, others text not null) without rowid')
    for (const [word, others] of Object.entries(words))
      this.#database.run('insert into words values (?, ?)', [word, JSON.stringify(others)])
    this.close()
  }

  close() {
    this.#insert.finalize()
    this.#database.close()
  }
}

interface Ranked {
  rowid: number
  path: string
  score: number
  title: string
  heading: string
  area: string
  anchor: string | null
  planned: number
}
type Row = Omit<Found, 'score' | 'planned'> & { anchor: string | null; planned: number }

/** The end of a word, which its forms differ in. */
const stemOf = (word: string) =>
  word
    .toLowerCase()
    .replace(/(?:ies|y)$/, 'i')
    .replace(/(?:ing|ed|es|s|e)$/, '')

const stemsOf = (text: string): ReadonlySet<string> => new Set(phrasesOf(text).map(({ word }) => stemOf(word)))

/** How much of a text is what was asked for, and of what was asked for is in it: 1 where they are the same words. */
function likeness(asked: readonly ReadonlySet<string>[], own: ReadonlySet<string>): number {
  if (!own.size || !asked.length) return 0
  const found = asked.filter((ways) => !ways.isDisjointFrom(own)).length
  const used = [...own].filter((stem) => asked.some((ways) => ways.has(stem))).length
  return (used / own.size) * (found / asked.length)
}

interface Opened {
  ranked: Statement<Ranked, [string]>
  row: Statement<Row, [string, number]>
  words: ReadonlyMap<string, readonly string[]>
}

const byScore = (a: Ranked, b: Ranked) => b.score - a.score || a.rowid - b.rowid
const worthOf = (row: Ranked) => WORTH.reduce((so, [test, by]) => (test(row) ? so * by : so), 1)

export class Search {
  #opened: Opened | undefined
  readonly #known = new Map<string, ReadonlySet<string>>()

  constructor(readonly file: string) {}

  /** The passages that have words of the text, best first; those that have all of them come before what has as many of one. */
  find(text: string, limit: number): Found[] {
    const phrases = this.#phrases(text)
    if (!phrases.length) return []
    const any = phrases.join(' OR ')
    const { row } = this.#index()
    const perPage = new Map<string, number>()
    return this.#ranked(phrases, any, text)
      .filter(({ path }) => {
        const before = perPage.get(path) ?? 0
        perPage.set(path, before + 1)
        return before < OF_A_PAGE
      })
      .slice(0, limit)
      .map(({ rowid, score }) => {
        const { anchor, path, planned, ...rest } = row.get(any, rowid)!
        return {
          ...rest,
          planned: planned === 1,
          path: anchor === null ? path : `${path}#${anchor}`,
          score: Math.round(score * 1000) / 1000,
        }
      })
  }

  /** The words of a text, each with those that the pages have for it. */
  #phrases(text: string): string[] {
    const { words } = this.#index()
    return phrasesOf(text).map(({ word, phrase }) => {
      const others = words.get(word.toLowerCase()) ?? []
      return others.length ? `(${[phrase, ...others.map((other) => `"${other}"`)].join(' OR ')})` : phrase
    })
  }

  /** The words of a text, each by the stems of all ways to say it. */
  #asked(text: string): ReadonlySet<string>[] {
    const { words } = this.#index()
    return phrasesOf(text).map(({ word }) => new Set([word, ...(words.get(word.toLowerCase()) ?? [])].map(stemOf)))
  }

  /** The stems of a title or a heading, of which there are not many. */
  #stems(text: string): ReadonlySet<string> {
    let stems = this.#known.get(text)
    if (!stems) this.#known.set(text, (stems = stemsOf(text)))
    return stems
  }

  /** What a passage is worth for what was asked: by its words, its title and its heading, and by what it is. */
  #weighed(row: Ranked, asked: readonly ReadonlySet<string>[]): number {
    const title = likeness(asked, this.#stems(row.title))
    const heading = row.anchor === null ? 0 : likeness(asked, this.#stems(row.heading))
    return row.score * worthOf(row) * (1 + TITLE * title + HEADING * heading)
  }

  /** Who types a title wants that page. */
  #titled(row: Ranked, asked: readonly ReadonlySet<string>[], typed: ReadonlySet<string>): number {
    if (row.anchor !== null) return 0
    const own = this.#stems(row.title)
    if (likeness(asked, own) !== 1) return 0
    return (own.symmetricDifference(typed).size ? MEANT : TYPED) * worthOf(row)
  }

  #ranked(phrases: readonly string[], any: string, text: string): Ranked[] {
    const { ranked } = this.#index()
    const [asked, typed] = [this.#asked(text), stemsOf(text)]
    const whole = phrases.length > 1 ? ranked.all(phrases.join(' AND ')) : []
    const all = new Set(whole.map(({ rowid }) => rowid))
    // A passage with every word is worth twice what its words are.
    const best = whole.map((row) => ({ ...row, score: 2 * row.score }))
    const rest = whole.length < RANKED_MAX ? ranked.all(any).filter(({ rowid }) => !all.has(rowid)) : []
    const weighed = [...best, ...rest].map((row) => ({ ...row, score: this.#weighed(row, asked) })).toSorted(byScore)
    const ofPage = new Map<string, number[]>()
    for (const { path, score } of weighed) {
      const scores = ofPage.get(path)
      if (!scores) ofPage.set(path, [score])
      else if (scores.length < PASSAGES_OF_PAGE) scores.push(score)
    }
    return weighed
      .map((row) => {
        const page = ofPage.get(row.path)!.reduce((sum, score) => sum + score, 0)
        return { ...row, score: row.score + OF_PAGE * page + this.#titled(row, asked, typed) }
      })
      .toSorted(byScore)
  }

  #index() {
    if (this.#opened) return this.#opened
    const database = new Database(this.file, { readonly: true })
    const ranked = database.prepare<Ranked, [string]>(
      `select rowid, path, title, heading, area, anchor, planned, -${RANK} as score from passages where passages match ? limit ${RANKED_MAX}`,
    )
    const row = database.prepare<Row, [string, number]>(
      `select area as section, path, anchor, title, heading, planned, snippet(passages, 2, '', '', '…', ${EXCERPT_WORDS}) as excerpt from passages where passages match ? and rowid = ?`,
    )
    const known = database.query<{ word: string; others: string }, []>('select word, others from words').all()
    const words = new Map(known.map(({ word, others }) => [word, JSON.parse(others) as string[]] as const))
    return (this.#opened = { ranked, row, words })
  }
}
