/** The floor: a bare Bun server that gives fixed answers, one for each path in the JSON file that it is started with. */
import { readFileSync } from 'node:fs'

const [file, port] = process.argv.slice(2)
const texts = JSON.parse(readFileSync(file!, 'utf8')) as Record<string, string>
const headers = { 'content-type': 'application/json' }
const routes = Object.fromEntries(Object.entries(texts).map(([path, text]) => [path, () => new Response(text, { headers })]))

Bun.serve({ hostname: '127.0.0.1', port: Number(port), routes: { ...routes, '/health': () => new Response('ok') } })
