/** `/metrics`: Prometheus' text form line by line, and what it tells of jobs, mails, builds, the disk and the loop. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, expect, test } from 'vitest'
import { turns } from '../../api/builder/publishing/turn.ts'
import { goRound } from '../../api/maintenance-rounds.ts'
import { watchLoop } from '../../api/server/loop-delay.ts'
import { exposition, Metrics, METRICS, total } from '../../api/server/metrics.ts'
import { createLog } from '../../api/server/log.ts'
import { testApp } from '../harness.ts'
import { newShop } from '../shop.ts'
import { smtpServer, type SmtpOptions } from '../smtp.ts'
import { cleanUp, ROOT, startShop } from './processes.ts'

afterAll(cleanUp)

/** The samples of a text, by name and labels. Throws for a line that no Prometheus takes. */
function samplesOf(text: string): Map<string, number> {
  const samples = new Map<string, number>()
  const types = new Map<string, string>()
  const ended = new Set<string>()
  let family = ''
  expect(text.endsWith('\n')).toBe(true)
  for (const line of text.slice(0, -1).split('\n')) {
    const said = /^# (HELP|TYPE) ([a-z_:][a-z0-9_:]*) (.+)$/.exec(line)
    if (said) {
      if (said[2] !== family) {
        expect(ended.has(said[2]!), `${said[2]} stands in two places`).toBe(false)
        ended.add((family = said[2]!))
      }
      if (said[1] === 'TYPE') types.set(family, said[3]!)
      continue
    }
    const [, name, labels = '', value] = /^([a-z_:][a-z0-9_:]*)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)+)\})? (\S+)$/.exec(line) ?? []
    expect(name, line).toBeDefined()
    expect(types.get(family), line).toMatch(/^(histogram|counter|gauge)$/)
    expect(types.get(family) === 'histogram' ? name!.replace(/_(bucket|sum|count)$/, '') : name, line).toBe(family)
    if (types.get(family) === 'counter') expect(name).toMatch(/_total$/)
    expect(Number.isFinite(Number(value)), line).toBe(true)
    expect(samples.has(`${name}{${labels}}`), `${line} stands there twice`).toBe(false)
    samples.set(`${name}{${labels}}`, Number(value))
  }
  return samples
}

/** The buckets of each histogram grow, and the last one is its count. */
function requireHistograms(samples: Map<string, number>) {
  const last = new Map<string, number>()
  for (const [key, value] of samples) {
    const [, name, labels] = /^(.+)_bucket\{(.*?),?le="[^"]+"\}$/.exec(key) ?? []
    if (name === undefined) continue
    const of = `${name}_count{${labels}}`
    expect(value, key).toBeGreaterThanOrEqual(last.get(of) ?? 0)
    last.set(of, value)
  }
  expect(last.size).toBeGreaterThan(0)
  for (const [of, value] of last) expect(samples.get(of), of).toBe(value)
}

test('a server tells its disk and its loop beside its requests, in the form that Prometheus reads', async () => {
  const { api } = await startShop({ METRICS: '1' })
  await fetch(`${api}/api/v1/me`)
  await Bun.sleep(300)
  const samples = samplesOf(await (await fetch(`${api}/metrics`)).text())
  requireHistograms(samples)
  expect(samples.get('stoa_disk_free_bytes{}')).toBeGreaterThan(0)
  expect(samples.get('stoa_disk_size_bytes{}')).toBeGreaterThanOrEqual(samples.get('stoa_disk_free_bytes{}')!)
  expect(samples.get('stoa_loop_delay_seconds_count{}')).toBeGreaterThan(2)
  expect([samples.get('stoa_builds_running{}'), samples.get('stoa_builds_waiting{}')].every((value) => value! >= 0)).toBe(true)
  expect(samples.get('stoa_jobs_counted_seconds{}')).toBeGreaterThan(1.7e9)
}, 60_000)

test('jobs are told by kind and state as the rounds count them, mails and runs as they happen', async () => {
  const options: SmtpOptions = { refuse: (address) => (address.startsWith('gone') ? 550 : address.startsWith('later') ? 451 : undefined) }
  const smtp = await smtpServer(options)
  const app = await testApp({ smtpUrl: smtp.url, metrics: true })
  try {
    const shop = await newShop(app)
    await shop.settings({ email: { domain: 'mail.shop.example', outboundEnabled: true } })
    const variantId = await shop.variant()
    for (const email of ['ada@example.com', 'gone@example.com', 'later@example.com'])
      await shop.buy({ items: [{ variantId, quantity: 1 }], email })
    await app.jobs.settle()
    await shop.change(sql`insert into jobs (id, kind, subject, due_at, attempts, asked, created_at, updated_at, failed_at)
      values ('a', 'post.visible', 'a', '2020', 0, 1, '2020', '2020', '2020'), ('b', 'of.another.release', 'b', '2020', 0, 1, '2020', '2020', '2020')`)
    const { services, handles, jobs } = app
    await goRound({ services, handles, runner: jobs, mailFolder: app.mailFolder, log: createLog('silent') }, new AbortController().signal)
    const response = await app.app.fetch(new Request('http://localhost/metrics'))
    const samples = samplesOf(await response.text())
    requireHistograms(samples)
    expect(Object.fromEntries([...samples].filter(([key]) => /^stoa_(jobs\{|mails|job_runs)/.test(key)))).toEqual({
      'stoa_jobs{kind="post.visible",state="given_up"}': 1,
      'stoa_jobs{kind="unknown",state="given_up"}': 1,
      'stoa_jobs{kind="order.mail",state="waiting"}': 1,
      'stoa_mails_total{environment="live",outcome="sent"}': 1,
      'stoa_mails_total{environment="live",outcome="refused"}': 1,
      'stoa_mails_total{environment="live",outcome="deferred"}': 1,
      'stoa_job_runs_total{kind="order.mail",outcome="done"}': 2,
      'stoa_job_runs_total{kind="order.mail",outcome="failed"}': 1,
    })
  } finally {
    await app.close()
    await smtp.close()
  }
})

test('a loop that is held is seen, and a free one is not', async () => {
  const metrics = new Metrics()
  const end = watchLoop(metrics)
  await Bun.sleep(220)
  const before = metrics.figures({}).histograms.stoa_loop_delay_seconds!['']!.sum
  for (const until = performance.now() + 400; performance.now() < until;);
  await Bun.sleep(120)
  end()
  const { sum } = metrics.figures({}).histograms.stoa_loop_delay_seconds!['']!
  expect(sum - before).toBeGreaterThan(0.3)
})

test('of several processes counts are summed, and what all see alike is what was seen last', () => {
  const figures = (n: number) => {
    const metrics = new Metrics()
    metrics.count('GET', '/me', 200, 0.002 * n)
    metrics.add('stoa_mails_total', { outcome: 'sent' })
    metrics.observe('stoa_build_seconds', { kind: 'publish', outcome: 'made' }, 20)
    metrics.share('stoa_jobs', n, [{ labels: { kind: `k${n}`, state: 'waiting' }, value: n }])
    return metrics.figures({ stoa_in_flight: n })
  }
  const samples = samplesOf(exposition(total([figures(2), figures(3), { ...figures(1), gauges: {} }])))
  requireHistograms(samples)
  const some = ['stoa_in_flight{}', 'stoa_mails_total{outcome="sent"}', 'stoa_build_seconds_count{kind="publish",outcome="made"}']
  expect(some.map((key) => samples.get(key))).toEqual([5, 3, 3])
  expect([...samples].filter(([key]) => key.startsWith('stoa_jobs{'))).toEqual([['stoa_jobs{kind="k3",state="waiting"}', 3]])
})

test('labels are any text', () => {
  const metrics = new Metrics()
  metrics.add('stoa_job_runs_total', { kind: 'a"b\\c\nd', outcome: 'done' })
  expect([...samplesOf(exposition(metrics.figures({}))).keys()]).toEqual(['stoa_job_runs_total{kind="a\\"b\\\\c\\nd",outcome="done"}'])
})

test('the page lists each metric, with its type, and rules about these alone', () => {
  const page = readFileSync(join(ROOT, 'content/docs/getting-started/metrics.md'), 'utf8')
  const listed = [...page.matchAll(/^\| `((?:stoa|process)_\w+)` \| (\w+) \|/gm)].map(([, name, type]) => [name, type])
  expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(Object.entries(METRICS).map(([name, { type }]) => [name, type])))
  const asked = [...page.matchAll(/\bstoa_[a-z_]+/g)].map(([name]) => name.replace(/_(bucket|count|sum)$/, ''))
  expect(asked.filter((name) => !Object.hasOwn(METRICS, name))).toEqual([])
})

test('builds that wait are counted until they have had their turn, or are not wanted any more', async () => {
  const { inTurn } = await import('../../api/builder/publishing/turn.ts')
  const { promise, resolve } = Promise.withResolvers<void>()
  const [signal, ending] = [new AbortController().signal, new AbortController()]
  const running = inTurn(signal, () => promise)
  const waits = inTurn(signal, async () => {})
  const leaves = inTurn(ending.signal, async () => {}).catch(() => {})
  await Bun.sleep(1)
  expect({ ...turns() }).toEqual({ running: 1, waiting: 2 })
  ending.abort()
  await leaves
  expect({ ...turns() }).toEqual({ running: 1, waiting: 1 })
  resolve()
  await Promise.all([running, waits])
  expect({ ...turns() }).toEqual({ running: 0, waiting: 0 })
})
