/** Lists and query parameters of every operation (document 1, General conventions 6; document 3, details). */
import { afterAll, describe, test } from 'vitest'
import type { Answer } from '../harness.ts'
import type { Operation } from './operations.ts'
import { each, world, type Find } from './world.ts'

const { app, keyed, caller, somewhere } = await world()
const lists = keyed.filter(({ method, query }) => method === 'GET' && query.limit)
afterAll(() => app.close())

describe('lists and queries', () => {
  const refused = async (operation: Operation, find: Find, search: string, field: string, codes: string[]) => {
    const needed = operation.needed.startsWith(`${field}=`) ? '' : `${operation.needed}&`
    const answer = await caller.call(operation, `${somewhere(operation)}?${needed}${search}`)
    if (answer.status === 404 && operation.params.length) return
    const first = answer.body?.details?.[0]
    if (answer.status !== 400 || JSON.stringify(first?.path) !== JSON.stringify([field]) || !codes.includes(first.code))
      find(`?${search} is not refused by field`, answer)
  }

  test('limit and offset out of range, or not plain whole numbers, are 400 by name', () =>
    each(lists, async (operation, find) => {
      const maximum = operation.query.limit!.maximum ?? 100
      for (const [value, code] of [
        ['0', 'too_small'],
        ['-1', 'too_small'],
        [String(maximum + 1), 'too_big'],
        ['1e400', 'invalid_type'],
        ['1.5', 'invalid_type'],
        ['1e1', 'invalid_type'],
        ['%205', 'invalid_type'],
        ['5%20', 'invalid_type'],
        ['', 'invalid_type'],
        ['0x5', 'invalid_type'],
        ['%2B5', 'invalid_type'],
        ['05', 'invalid_type'],
        ['five', 'invalid_type'],
        ['NaN', 'invalid_type'],
        ['99999999999999999999', 'too_big'],
      ]) {
        await refused(operation, find, `limit=${value}`, 'limit', [code!])
      }
      await refused(operation, find, 'limit=5&limit=5', 'limit', ['custom', 'invalid_type'])
      if (operation.query.offset) {
        for (const [value, code] of [
          ['-1', 'too_small'],
          ['0.5', 'invalid_type'],
          ['x', 'invalid_type'],
          ['', 'invalid_type'],
        ])
          await refused(operation, find, `offset=${value}`, 'offset', [code!])
        await refused(operation, find, 'offset=0&offset=1', 'offset', ['custom', 'invalid_type'])
      }
    }))

  test('the page sizes 1 and the largest are taken, and the default is the one described', () =>
    each(lists, async (operation, find) => {
      const { limit } = operation.query
      for (const asked of [undefined, 1, limit!.maximum ?? 100]) {
        const answer = await caller.call(
          operation,
          `${somewhere(operation)}?${operation.needed}${asked === undefined ? '' : `&limit=${asked}`}`,
        )
        if (answer.status === 404 && operation.params.length) return
        if (answer.status !== 200) find(`limit ${asked} is not 200`, answer)
        const shown = answer.body?.meta?.limit ?? answer.body?.pagination?.limit
        if (shown !== undefined && shown !== (asked ?? limit!.default)) find(`shows limit ${shown} for ${asked}`)
        const page = answer.body?.data ?? answer.body?.items ?? answer.body?.images
        if (asked !== undefined && Array.isArray(page) && page.length > asked) find(`gives ${page.length} entries for limit ${asked}`)
      }
    }))

  test('an offset behind the end is an empty page that still counts all', () =>
    each(
      lists.filter(({ query }) => query.offset),
      async (operation, find) => {
        const [start, end] = [
          await caller.call(operation, `${somewhere(operation)}?${operation.needed}`),
          await caller.call(operation, `${somewhere(operation)}?${operation.needed}&offset=1000000`),
        ]
        if (start.status !== 200) return
        const page = end.body?.data ?? end.body?.items ?? end.body?.attendees
        if (end.status !== 200 || !Array.isArray(page) || page.length) find('is not empty behind the end', end)
        const count = ({ body }: Answer) => body?.meta?.count ?? body?.pagination?.total ?? body?.total
        if (count(start) !== count(end)) find(`counts ${count(start)} and ${count(end)}`)
      },
    ))

  test('other parameters are refused by field when they can not be meant', () =>
    each(
      keyed.filter(({ query }) => Object.keys(query).length),
      async (operation, find) => {
        for (const [name, schema] of Object.entries(operation.query)) {
          if (schema.enum) await refused(operation, find, `${name}=no-such-word`, name, ['invalid_enum_value'])
          else if (schema.type === 'boolean')
            for (const value of ['yes', '1', '', 'TRUE']) await refused(operation, find, `${name}=${value}`, name, ['invalid_type'])
          else if (schema.format === 'uuid') await refused(operation, find, `${name}=not-a-uuid`, name, ['invalid_string'])
          else if (schema.format === 'date-time')
            for (const value of ['2026-02-30T00:00:00Z', 'yesterday', '2026-01-01'])
              await refused(operation, find, `${name}=${value}`, name, ['invalid_string'])
          else if (schema.type === 'number') await refused(operation, find, `${name}=1,5`, name, ['invalid_type'])
          if (schema.type === 'string' && !schema.enum)
            await refused(operation, find, `${name}=a&${name}=b`, name, ['custom', 'invalid_type'])
        }
      },
    ))
})

test('no answer was a failure of the server, or of another kind than described', () => {
  caller.verify()
})
