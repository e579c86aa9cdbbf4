/** What every contract test starts from: the document of a running app, and two stores with something in them. */
import { expect } from 'vitest'
import { carriersDouble } from '../doubles/carriers.ts'
import { testApp, type Answer, type TestApp, type TestStore } from '../harness.ts'
import { Caller, fill, nobody, operationsOf, WORDS, type Json, type Operation } from './operations.ts'
import { idFor, linked, seed, type Known } from './seed.ts'

interface World {
  app: TestApp
  document: Json
  operations: Operation[]
  /** Those that need a key. */
  keyed: Operation[]
  shop: TestStore
  /** Identifiers of the shop, and of another store. */
  known: Known
  foreign: Known
  /** Calls with the shop's unrestricted key, and minds what no answer may be. */
  caller: Caller
  /** A path that leads to something, where the shop has it. */
  somewhere(operation: Operation): string
  /** The example of a body, with the shop's own identifiers. */
  bodyOf(operation: Operation): any
}

export async function world(options: Parameters<typeof testApp>[0] = {}): Promise<World> {
  const carriers = carriersDouble()
  // What the examples say has to be accepted.
  carriers.instead = () => new Response()
  const app = await testApp({ carriers: carriers.urls, ...options })
  const { close } = app
  app.close = async () => {
    await close()
    carriers.close()
  }
  const document: Json = (await app.send('GET', '/openapi')).body
  const operations = operationsOf(document)
  const [shop, other] = [await app.newStore({ plan: 'scale', aiBuilt: true }), await app.newStore({ plan: 'scale', aiBuilt: true })]
  const known = await seed(operations, app.send, shop.keys.admin)
  return {
    app,
    document,
    operations,
    shop,
    known,
    keyed: operations.filter(({ isPublic }) => !isPublic),
    foreign: await seed(operations, app.send, other.keys.admin),
    caller: new Caller(app.send, shop.keys.admin),
    somewhere: ({ path }) => fill(path, idFor(known)),
    bodyOf: ({ body }) => (body ? linked(body.example, known) : undefined),
  }
}

/** A path that leads to nothing. */
export const nowhere = ({ path }: Operation) => fill(path, (name) => WORDS[name] ?? nobody())

/** Notes a problem of an operation, with the answer that shows it. */
export type Find = (problem: string, answer?: Answer) => void

/** Runs a check on each operation, and expects that none of them finds anything. */
export async function each(some: readonly Operation[], check: (operation: Operation, find: Find) => Promise<void>) {
  const found: string[] = []
  for (const operation of some)
    await check(operation, (problem, answer) => {
      found.push(`${operation.title}: ${problem}${answer ? ` (${answer.status} ${answer.text.slice(0, 200)})` : ''}`)
    })
  expect(found.slice(0, 40)).toEqual([])
}
