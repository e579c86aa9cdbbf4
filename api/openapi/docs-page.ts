/** The reference page: the OpenAPI document as one page of HTML that needs no script and loads nothing. */
import { STYLE } from './docs-style.ts'
import { phrase, prose } from './markdown.ts'
import { COMMON, Reference, resolve } from './reference.ts'
import { html, Html, type Part } from '../values/html.ts'
import type { Json } from './schemas.ts'

interface Operation {
  method: string
  path: string
  about: Json
}
interface Group {
  room: string
  name: string
  operations: Operation[]
}

/** The operations by room and first word of their path, rooms in the order of the document's tags. */
function groupsOf(document: Json): Group[] {
  const groups = new Map<string, Group>()
  for (const [path, methods] of Object.entries(document.paths as Record<string, Json>)) {
    for (const [method, about] of Object.entries(methods)) {
      const room = about.tags[0] as string
      const name = path.split('/')[1]!
      const key = `${room}/${name}`
      if (!groups.has(key)) groups.set(key, { room, name, operations: [] })
      groups.get(key)!.operations.push({ method: method.toUpperCase(), path, about })
    }
  }
  return [...groups.values()]
}

const groupId = ({ room, name }: Group) => `${room}-${name}`

const navigation = (
  document: Json,
  groups: Group[],
) => html`<nav aria-label="Reference"><p><a href="#top">${document.info.title}</a> <span class="soft">${document.info.version}</span></p>
${document.tags.map(({ name }: Json) => html`<details><summary>${name}</summary><ul>${groups.filter(({ room }) => room === name).map((group) => html`<li><a href="#${groupId(group)}">${group.name}</a></li>`)}</ul></details>`)}
<p><a href="#schemas">Schemas</a></p></nav>`

const headersLine = (document: Json, parameters: Json[]): Part => {
  const names = parameters
    .map((parameter) => resolve(document, parameter))
    .filter((parameter) => parameter.in === 'header')
    .map(({ name }) => name as string)
  return (
    names.length > 0 &&
    html`<p class="soft">Headers: ${names.map((name, i) => [i ? ', ' : '', html`<a href="#header-${name}"><code>${name}</code></a>`])}</p>`
  )
}

const contentOf = (message: Json): { type: string; media: Json } | null => {
  const [type, media] = Object.entries(message.content ?? {})[0] ?? []
  return type ? { type, media: media as Json } : null
}

/** In single quotes for a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

function curl(document: Json, { method, path, about }: Operation): string {
  const values = new Map<string, string>(
    about.parameters
      .map((parameter: Json) => resolve(document, parameter))
      .filter((parameter: Json) => parameter.in === 'path')
      .map((parameter: Json) => [parameter.name, String(parameter.example)]),
  )
  const url = `"$STORE_URL${document.servers[0].url}${path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values.get(name) ?? name))}"`
  const content = about.requestBody && contentOf(about.requestBody)
  const lines = [`curl ${method === 'GET' ? '' : `-X ${method} `}${url}`]
  if (about.security.length) lines.push(`  -H "Authorization: Bearer $STORE_KEY"`)
  if (content?.type === 'multipart/form-data')
    for (const [name, value] of Object.entries(content.media.example ?? {})) lines.push(`  -F ${quoted(`${name}=${value}`)}`)
  else if (content) lines.push(`  -H ${quoted(`Content-Type: ${content.type}`)}`, `  -d ${quoted(JSON.stringify(content.media.example))}`)
  return lines.join(' \\\n')
}

function exampleSection(document: Json, operation: Operation): Part {
  const answer = Object.entries(operation.about.responses as Record<string, Json>)
    .map(([status, response]) => ({ status, example: contentOf(resolve(document, response))?.media.example }))
    .find(({ status }) => status < '300')
  return html`<details><summary>Example</summary><pre tabindex="0"><code>${curl(document, operation)}</code></pre>${answer?.example !== undefined && html`<pre tabindex="0"><code>${JSON.stringify(answer.example, null, 2)}</code></pre>`}</details>`
}

const operationSection = (document: Json, reference: Reference, operation: Operation) => html`
<section class="operation" id="${operation.about.operationId}">
<h4><span class="method ${operation.method.toLowerCase()}">${operation.method}</span> <code class="path">${operation.path}</code> <a href="#${operation.about.operationId}">${operation.about.summary}</a></h4>
${prose(reference.operation(operation.about))}${headersLine(document, operation.about.parameters)}${exampleSection(document, operation)}
</section>`

const sharedSection = (document: Json) => html`<h2>What operations share</h2><h3 id="headers">Request headers</h3>
<dl>${Object.values(document.components.parameters as Record<string, Json>).map((parameter) => html`<dt id="header-${parameter.name}"><code>${parameter.name}</code></dt><dd>${phrase(parameter.description)}</dd>`)}</dl>
<h3 id="errors">Errors</h3>
<p>Nearly every operation may answer with ${COMMON.map((status, i) => [i ? ', ' : '', html`<a href="#status-${status}">${status}</a>`])}: these are not listed with each.</p>
<dl><dt id="status-304">304</dt><dd>The representation is the one that <code>If-None-Match</code> names</dd>${errorsOf(document).map(([status, response]) => html`<dt id="status-${status}">${status}</dt><dd>${phrase(response.description)}: <code>${JSON.stringify(contentOf(response)!.media.example)}</code></dd>`)}</dl>`

/** The shared error answers, each with its status. */
function errorsOf(document: Json): [string, Json][] {
  const found = new Map<string, Json>()
  for (const methods of Object.values(document.paths as Record<string, Json>)) {
    for (const about of Object.values(methods))
      for (const [status, response] of Object.entries(about.responses as Record<string, Json>))
        if (response.$ref) found.set(status, resolve(document, response))
  }
  return [...found].toSorted(([a], [b]) => Number(a) - Number(b))
}

const schemasSection = (document: Json, reference: Reference) =>
  html`<h2 id="schemas">Schemas</h2>${Object.entries(document.components.schemas as Record<string, Json>).map(
    ([name, schema]) => html`
<section id="schema-${name}"><h3>${name}</h3>${prose([schema.description, reference.fields(schema, false) ?? reference.typeOf(schema)].filter(Boolean).join('\n\n'))}</section>`,
  )}`

const room = (
  document: Json,
  reference: Reference,
  groups: Group[],
  { name, description }: Json,
) => html`<h2 id="${name}">${name}</h2>${prose(description)}
${groups.filter((group) => group.room === name).map((group) => html`<h3 id="${groupId(group)}">/${group.name}</h3>${group.operations.map((operation) => operationSection(document, reference, operation))}`)}`

/** Makes the page of a document, and the Content-Security-Policy that allows its style and nothing else. */
export function docsPage(document: Json): { html: string; policy: string } {
  const groups = groupsOf(document)
  const reference = new Reference(document, true)
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${document.info.title} reference</title><style>${new Html(STYLE)}</style></head>
<body id="top"><a class="skip" href="#main">Skip to the content</a>
${navigation(document, groups)}
<main id="main"><h1>${document.info.title}</h1>${prose(document.info.description)}
<p>The same as a machine reads it: <a href="openapi">OpenAPI ${document.openapi}</a>; with a form to send each request: <a href="docs/console">console</a>. The examples expect the address of the server in <code>$STORE_URL</code> and a key in <code>$STORE_KEY</code>. Ids are UUIDs, version 7.</p>
${sharedSection(document)}${document.tags.map((tag: Json) => room(document, reference, groups, tag))}${schemasSection(document, reference)}</main></body></html>`
  const hash = new Bun.CryptoHasher('sha256').update(STYLE).digest('base64')
  return {
    html: page.text,
    policy: `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  }
}
