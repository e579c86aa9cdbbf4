/** The shortest ways to fill a store's catalog, and to say what an answer refuses. */
import { expect } from 'vitest'
import type { Answer, TestApp, TestStore } from '../harness.ts'

/** An instant as answers write it. */
export const AN_INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
export const A_UUID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
export const NOBODY = '01985d2c-7c00-7a31-8c4e-0242ac120002'

/** Creates something; the test fails when it is refused. */
export async function create(shop: TestStore, path: string, body: unknown): Promise<any> {
  const answer = await shop.call('POST', path, body)
  if (answer.status !== 201) throw new Error(`POST ${path} ${JSON.stringify(body)}: ${answer.status} ${answer.text}`)
  return answer.body
}

/** Reads something that is there. */
export async function read(shop: TestStore, path: string, key?: string): Promise<any> {
  const answer = await shop.call('GET', path, undefined, key ? { key } : {})
  if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status} ${answer.text}`)
  return answer.body
}

/** `400 too_small name`: the status of a refusal, and the code and path of each of its details. */
export const refusal = ({ status, body }: Answer) =>
  [status, ...(body?.details ?? []).map(({ code, path }: { code: string; path: string[] }) => `${code} ${path.join('.')}`)].join(' ')

/** What a list's entries are called. */
export const names = (answer: { data: { name: string }[] }) => answer.data.map(({ name }) => name)
export const statuses = (answers: Answer[]) => answers.map(({ status }) => status).toSorted()

/** Calls n times at once. */
export const parallel = <T>(n: number, call: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: n }, (_, i) => call(i)))

/** Two stores side by side: what belongs to the other one is missing here. */
export const twoStores = (app: TestApp, input = {}) => Promise.all([app.newStore(input), app.newStore(input)])
