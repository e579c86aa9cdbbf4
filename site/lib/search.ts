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

export interface Found {
  /** The page's, with the anchor of the passage: `/docs/api-reference/coupons#limits`. */
  path: string
  /** The part of the site: `docs`, `help`, `blog` or `changelog`. */
  section: string
  title: string
  heading: string
  excerpt: string
  /** More is better; it compares passages of one search. */
  score: number
}

/** Writes the index of these passages to a new file. */
export function writeIndex(file: string, passages: readonly Passage[]) {
  const database = new Database(file)
  try {
    // A file that is not whole is thrown away with its build.
    database.run('pragma journal_mode = off; pragma synchronous = off')
    database.run(
      `create virtual table passages using fts5(title, heading, text, area unindexed, path unindexed, anchor unindexed, tokenize = 'porter unicode61')`,
    )
    const insert = database.prepare('insert into passages values (?, ?, ?, ?, ?, ?)')
    database.transaction(() => {
      for (const { title, heading, text, area, path, anchor } of passages) insert.run(title, heading, text, area, path, anchor)
    })()
    database.run(`insert into passages (passages) values ('optimize')`)
  } finally {
    database.close()
  }
}

interface Ranked {
  rowid: number
  path: string
  score: number
}
type Row = Omit<Found, 'score'> & { anchor: string | null }

export class Search {
  #opened: { ranked: Statement<Ranked, [string]>; row: Statement<Row, [string, number]> } | undefined

  constructor(readonly file: string) {}

  /** The passages that have words of the text, best first; those that have all of them come before what has as many of one. */
  find(text: string, limit: number): Found[] {
    const phrases = phrasesOf(text).map(({ phrase }) => phrase)
    if (!phrases.length) return []
    const any = phrases.join(' OR ')
    const { row } = this.#index()
    const perPage = new Map<string, number>()
    return this.#ranked(phrases, any)
      .filter(({ path }) => {
        const before = perPage.get(path) ?? 0
        perPage.set(path, before + 1)
        return before < OF_A_PAGE
      })
      .slice(0, limit)
      .map(({ rowid, score }) => {
        const { anchor, path, ...rest } = row.get(any, rowid)!
        return { ...rest, path: anchor === null ? path : `${path}#${anchor}`, score: Math.round(score * 1000) / 1000 }
      })
  }

  #ranked(phrases: readonly string[], any: string): Ranked[] {
    const { ranked } = this.#index()
    const whole = phrases.length > 1 ? ranked.all(phrases.join(' AND ')) : []
    const all = new Set(whole.map(({ rowid }) => rowid))
    // A passage with every word is worth twice what its words are.
    const best = whole.map((row) => ({ ...row, score: 2 * row.score }))
    const rest = whole.length < RANKED_MAX ? ranked.all(any).filter(({ rowid }) => !all.has(rowid)) : []
    return [...best, ...rest].toSorted((a, b) => b.score - a.score || a.rowid - b.rowid)
  }

  #index() {
    if (this.#opened) return this.#opened
    const database = new Database(this.file, { readonly: true })
    const ranked = database.prepare<Ranked, [string]>(
      `select rowid, path, -${RANK} as score from passages where passages match ? limit ${RANKED_MAX}`,
    )
    const row = database.prepare<Row, [string, number]>(
      `select area as section, path, anchor, title, heading, snippet(passages, 2, '', '', '…', ${EXCERPT_WORDS}) as excerpt from passages where passages match ? and rowid = ?`,
    )
    return (this.#opened = { ranked, row })
  }
}
