import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { folderFor } from '../folder.ts'
import { docsPage } from '../../api/openapi/docs-page.ts'
import { openapi, refusedAnyway } from '../../api/openapi/document.ts'
import { exampleOf } from '../../api/openapi/examples.ts'
import { FIELDS, KEYS } from '../../api/openapi/words.ts'
import { Reference } from '../../api/openapi/reference.ts'
import type { Refusal } from '../../api/values/refusal.ts'
import { isSchema, resource } from '../../api/http/route.ts'
import { Named, Nullable, OneOf, Page, Type, Uuid, type TSchema } from '../../api/http/schema.ts'
import { Notes } from '../../api/http/input/notes.ts'
import { parser } from '../../api/http/input/check.ts'
import { webhookEvents } from '../../api/webhook-events.ts'
import { testApp } from '../harness.ts'

const app = await testApp()
afterAll(() => app.close())
const { routes } = app.app
const served = await app.send('GET', '/openapi')
const about = { baseUrl: '/api/v1', version: '1', contentUrl: 'https://stoa.example', events: webhookEvents }
const bare = { ...about, events: [] }

/** Runs the linter on a document, with its own output as JSON. */
async function lint(document: string): Promise<{ message: string; location: unknown }[]> {
  const folder = folderFor('openapi')
  try {
    writeFileSync(join(folder, 'openapi.json'), document)
    const run = Bun.spawn(
      [
        process.execPath,
        '--bun',
        'node_modules/@redocly/cli/bin/cli.js',
        'lint',
        join(folder, 'openapi.json'),
        '--config',
        'redocly.yaml',
        '--format',
        'json',
      ],
      {
        env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', CI: 'true' },
        stdout: 'pipe',
        stderr: 'pipe',
      },
    )
    const [out, errors] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()])
    await run.exited
    if (!out.includes('{')) throw new Error(`the linter did not answer: ${out}${errors}`)
    return JSON.parse(out.slice(out.indexOf('{'))).problems.map(({ message, location }: any) => ({
      message,
      location: location?.[0]?.pointer,
    }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe('the OpenAPI document', () => {
  test('is served without a key, as JSON, with an ETag', async () => {
    expect(served.status).toBe(200)
    expect(served.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(served.body.openapi).toMatch(/^3\.1\./)
    const again = await app.send('GET', '/openapi', undefined, { headers: { 'if-none-match': served.headers.get('etag')! } })
    expect([again.status, again.text]).toEqual([304, ''])
  })

  test('lists every route once, the descriptions themselves too', () => {
    const listed = Object.entries(served.body.paths).flatMap(([path, methods]) =>
      Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(listed.toSorted()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).toSorted())
    expect(listed).toContain('GET /openapi')
    const operations = routes.map(({ options }) => options.operationId)
    expect(operations.filter((op, i) => operations.indexOf(op) !== i)).toEqual([])
  })

  test('has nothing that the linter minds', async () => {
    expect(await lint(served.text)).toEqual([])
  })

  test('has the statuses that follow from a route without its naming them', () => {
    const idle = routes.map((route) => [
      route.options.operationId,
      route.options.refuses?.filter((status) => refusedAnyway(route).has(status)) ?? [],
    ])
    expect(idle.filter(([, statuses]) => statuses!.length)).toEqual([])
  })

  test('is the same each time', () => {
    expect(JSON.stringify(openapi(routes, about))).toBe(JSON.stringify(openapi(routes, about)))
  })

  test('gives examples that their own schemas take', () => {
    const refused = (schema: TSchema, value: unknown) => {
      try {
        parser(schema).parse(value, new Notes())
        return []
      } catch (error) {
        return [(error as Refusal).body]
      }
    }
    const wrong = routes.flatMap(({ options: { operationId: op, body, responses: answers } }) => [
      ...(body ? refused(body, exampleOf(body)).map((problem) => ({ op, problem })) : []),
      ...Object.entries(answers).flatMap(([status, answer]) =>
        !isSchema(answer)
          ? []
          : parser(answer)
              .problems(exampleOf(answer))
              .map((problem) => ({ op, status, problem })),
      ),
    ])
    expect(wrong).toEqual([])
    for (const methods of Object.values(served.body.paths as Record<string, any>)) {
      for (const { operationId, requestBody, responses } of Object.values(methods) as any[]) {
        for (const [type, media] of Object.entries(requestBody?.content ?? {}))
          expect((media as any).example, `${operationId} ${type}`).toBeDefined()
        for (const [status, { content }] of Object.entries(responses) as [string, any][])
          if (content?.['application/json'] && operationId !== 'getOpenapi')
            expect(content['application/json'].example, `${operationId} ${status}`).toBeDefined()
      }
    }
  })

  test('has a field for each word that examples know', () => {
    const named = [...served.text.matchAll(/"(\w+)":\{|"name":"(\w+)"/g)].map(([, field, parameter]) => field ?? parameter!)
    const names = new Set([...named, ...Object.values(KEYS)].flatMap((name) => [name, name.replace(/ies$/, 'y').replace(/s$/, '')]))
    expect([...FIELDS.keys(), ...Object.keys(KEYS)].filter((name) => !names.has(name))).toEqual([])
  })

  test('names every body with an example, and every object that is an answer or an entry of a list', () => {
    const nameless = routes.flatMap(({ options: { operationId: op, body, responses: answers } }) => {
      const fields = (schema: TSchema) => schema.properties as Record<string, TSchema> | undefined
      const answered = Object.values(answers)
        .filter(isSchema)
        .map((schema) => {
          const list = fields(schema)?.data ?? fields(schema)?.items
          return list?.type === 'array' && !schema.$id ? (list.items as TSchema) : schema
        })
      return [...(body ? [body] : []), ...answered].filter((schema) => fields(schema) && !schema.$id).map(() => op)
    })
    expect(nameless).toEqual([])
    expect(routes.filter(({ options: { body, upload } }) => [body, upload].some((schema) => schema && !schema.examples))).toEqual([])
  })

  test('has no keyword that belongs to the server alone', () => {
    expect(served.text).not.toMatch(/"\$id"|TypeBox|undefined/)
    for (const [, name] of served.text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g))
      expect(served.body.components.schemas[name!]).toBeDefined()
  })
})

describe('a described resource', () => {
  const Coat = Named('Coat', {
    id: Uuid(),
    kind: OneOf(['rain', 'wind']),
    lining: Nullable(Type.String()),
    size: Type.Union([Type.Literal('S'), Type.Literal('M')]),
    maker: Nullable(Type.Object({ id: Uuid(), name: Type.String() })),
  })
  const CoatInput = Named('CoatInput', {
    kind: OneOf(['rain', 'wind'], { default: 'rain' }),
    lining: Type.Optional(Nullable(Type.String({ maxLength: 5 }))),
    warmth: Type.Number({ exclusiveMinimum: 0 }),
  })
  const coats = resource('catalog', '/coats')
    .get(
      '',
      {
        operationId: 'listCoats',
        summary: 'List coats',
        scope: 'storefront:read',
        query: { limit: Type.Integer({ minimum: 1, maximum: 50, default: 7 }) },
        responses: { 200: Page(Coat) },
      },
      () => null as never,
    )
    .post(
      '',
      {
        operationId: 'createCoat',
        summary: 'Add a coat',
        scope: ['catalog:write', 'store:admin'],
        body: CoatInput,
        responses: { 201: Coat },
        refuses: [409],
      },
      () => null as never,
    )
    .get('/{id}', { operationId: 'getCoat', summary: 'Read a coat', scope: 'public', responses: { 200: Coat } }, () => null as never)
    .patch(
      '/{id}',
      {
        operationId: 'updateCoat',
        summary: 'Change a coat',
        scope: 'any key',
        body: Type.Partial(CoatInput, { $id: 'CoatPatch' }),
        responses: { 200: Coat },
      },
      () => null as never,
    )
  const document = openapi(coats.routes, bare)
  const { get, post } = document.paths['/coats']

  test('gives its schemas the names that they have', () => {
    expect(Object.keys(document.components.schemas)).toEqual([
      'Error',
      'ErrorDetail',
      'ScopeError',
      'ValidationError',
      'Coat',
      'CoatInput',
      'CoatPatch',
    ])
    expect(get.responses[200].content['application/json'].schema.properties.data.items).toEqual({ $ref: '#/components/schemas/Coat' })
  })

  test.each([Named('CoatInput', { hood: Type.Boolean() }), Named('Error', { id: Uuid() })])(
    'is refused a name that another schema has',
    (body) => {
      const hoods = resource('catalog', '/hoods').post(
        '',
        { operationId: 'createHood', summary: 'Add a hood', scope: 'public', body, responses: { 201: Coat } },
        () => null as never,
      )
      expect(() => openapi([...coats.routes, ...hoods.routes], bare)).toThrow(`two schemas are called ${body.$id}`)
    },
  )

  test('writes null and choices as JSON Schema does', () => {
    const { properties } = document.components.schemas.Coat
    expect(properties.kind).toMatchObject({ type: 'string', enum: ['rain', 'wind'] })
    expect(properties.lining).toMatchObject({ type: ['string', 'null'] })
    expect(properties.size).toMatchObject({ type: 'string', enum: ['S', 'M'] })
    expect(properties.maker.type).toEqual(['object', 'null'])
  })

  test('asks for no field that the server fills in', () => {
    expect(document.components.schemas.CoatInput.required).toEqual(['warmth'])
  })

  test('says which scopes open it, and none for a public one', () => {
    expect(post.security).toEqual([{ bearer: ['catalog:write'] }, { bearer: ['store:admin'] }])
    expect(post['x-scopes']).toEqual(['catalog:write', 'store:admin'])
    expect(post.description).toContain('`catalog:write`')
    expect(document.paths['/coats/{id}'].get.security).toEqual([])
    expect(document.paths['/coats/{id}'].patch.security).toEqual([{ bearer: [] }])
  })

  test('lists its parameters, headers and refusals', () => {
    expect(get.parameters[0]).toMatchObject({
      name: 'limit',
      in: 'query',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 50, default: 7 },
    })
    expect(post.parameters).toContainEqual({ $ref: '#/components/parameters/IdempotencyKey' })
    expect(document.paths['/coats/{id}'].patch.parameters).toContainEqual({ $ref: '#/components/parameters/IfMatch' })
    expect(Object.keys(get.responses)).toEqual(['200', '304', '400', '401', '403', '429', '500', '503', '507'])
    expect(Object.keys(post.responses)).toEqual(['201', '400', '401', '403', '408', '409', '413', '415', '422', '429', '500', '503', '507'])
  })

  test('describes a form with a file, and how to send one', () => {
    const upload = Type.Object({ file: Type.String({ contentMediaType: 'image/png' }), note: Type.Optional(Type.String()) })
    const form = openapi(
      resource('catalog', '/coats').post(
        '/{id}/photo',
        {
          operationId: 'addCoatPhoto',
          summary: 'Add a photo',
          scope: 'catalog:write',
          upload,
          responses: { 201: Type.Object({ url: Type.String() }) },
        },
        () => null as never,
      ).routes,
      bare,
    )
    const operation = form.paths['/coats/{id}/photo'].post
    expect(operation.requestBody.content['multipart/form-data'].example).toEqual({ file: '@file', note: expect.any(String) })
    expect(operation.responses[413]).toBeDefined()
    expect(docsPage(form).html).toContain('-F &#39;file=@file&#39;')
  })

  test('shows what is inside in the reference, escaped', () => {
    const evil = openapi(
      resource('catalog', '/x').get(
        '',
        {
          operationId: 'listX',
          summary: '<script>alert(1)</script>',
          description: '"quoted" & `<b>`',
          scope: 'public',
          responses: { 204: Type.Null() },
        },
        () => null as never,
      ).routes,
      bare,
    )
    const page = docsPage(evil).html
    expect(page).not.toMatch(/<script|<b>/)
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(page).toContain('<code>&lt;b&gt;</code>')
  })
})

describe('the reference page', async () => {
  const page = await app.send('GET', '/docs')
  const ids = new Set([...page.text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id))

  test('has a place for every operation, and no link or id twice or into nothing', () => {
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(routes.filter(({ options }) => !ids.has(options.operationId)).map(({ options }) => options.operationId)).toEqual([])
    expect([...page.text.matchAll(/href="#([^"]*)"/g)].map(([, id]) => id).filter((id) => !ids.has(id))).toEqual([])
    expect([...page.text.matchAll(/ id="/g)].length).toBe(ids.size)
  })

  test('loads nothing and runs nothing, and its policy allows its own style alone', () => {
    expect(page.text).not.toMatch(/<script|<link|<img|<iframe|\son\w+=|\sstyle=|@import|url\(/i)
    const style = /<style>([^]*?)<\/style>/.exec(page.text)![1]!
    const hash = new Bun.CryptoHasher('sha256').update(style).digest('base64')
    expect(page.headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    )
  })

  test('says of each operation and schema what the pages of the content site say', () => {
    const site = new Reference(served.body, false)
    const text = page.text
      .replace(/<[^>]+>/g, ' ')
      .replace(/&(#39|quot|amp|lt|gt);/g, ' ')
      .replace(/[^\w]+/g, ' ')
    const words = (markdown: string) =>
      markdown
        .replace(/\|---.*/g, '')
        .replace(/[^\w]+/g, ' ')
        .trim()
    const told = [
      ...Object.values(served.body.paths).flatMap((methods) => Object.values(methods as object).map((one) => site.operation(one))),
      ...Object.values(served.body.components.schemas).map((schema) => site.fields(schema as object, false)!),
    ]
    expect(told.length).toBeGreaterThan(300)
    expect(told.filter((markdown) => !text.includes(words(markdown)))).toEqual([])
  })

  test('closes every element that it opens', () => {
    const open: string[] = []
    for (const [, end, name] of page.text.replace(/<!doctype html>/i, '').matchAll(/<(\/?)([a-z][a-z0-9]*)[^>]*>/g)) {
      if (name === 'meta') continue
      if (!end) open.push(name!)
      else expect(open.pop(), `before ${name}`).toBe(name)
    }
    expect(open).toEqual([])
  })

  test('shows the rooms in the order of the document', () => {
    expect([...page.text.matchAll(/<h2 id="(\w+)"/g)].map(([, id]) => id)).toEqual([
      ...served.body.tags.map(({ name }: any) => name),
      'schemas',
    ])
  })
})
