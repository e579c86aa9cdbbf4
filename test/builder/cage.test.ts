/** The cage that builds run in, asked by a hostile program: by whichever means this machine holds it. */
import { chmodSync, chownSync, copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { notHeld, requireHeld } from '../../api/builder/builds/held.ts'
import { cageStrength, cageUser, freeUser, runCaged } from '../../api/outside/cage/cage.ts'
import { filterOf } from '../../api/outside/cage/calls.ts'
import { landlockVersion } from '../../api/outside/cage/kernel.ts'
import { folderFor } from '../folder.ts'

const isLinux = process.platform === 'linux'
const isRoot = process.getuid?.() === 0
const NOBODY = 65_534
const HOSTILE = new URL('cage-program.mjs', import.meta.url).pathname
const CHILD = new URL('cage-child.ts', import.meta.url).pathname

let folder: string
beforeAll(() => {
  folder = folderFor('cage')
  // Another user has to get there.
  chmodSync(folder, 0o755)
})

/** A folder that a caged program may write to, and a file beside it that is none of its business. */
function place(name: string, owner: number | null) {
  const [own, victim] = [join(folder, name), join(folder, `${name}-victim`)]
  mkdirSync(own)
  writeFileSync(victim, 'secret', { mode: 0o600 })
  const user = owner ?? process.getuid!()
  chownSync(own, user, user)
  return { own, victim }
}

const error = (what: string) => () => new Error(what)
const limits = {
  ...{ memoryMaxBytes: 1024 ** 3, timeMaxMs: 20_000, tooLarge: error('too large'), tooSlow: error('too slow') },
}

/** Runs a program in a cage and gives what it said. */
async function caged(program: string, args: string[], own: string, more: Partial<Parameters<typeof runCaged>[0]> = {}) {
  let said = ''
  const about = { read: [dirname(program)], write: [own], args: [program, ...args], env: {}, cwd: own, ...limits, ...more }
  const ended = await runCaged(about, async ({ stdout, stderr }) => {
    const [text, wrong] = await Promise.all([new Response(stdout).text(), new Response(stderr).text()])
    said = text + wrong
  })
  return { ...ended, said }
}

/** A program that this test wrote, in a folder of its own. */
function program(name: string, source: string): string {
  const path = join(folder, `program-${name}`, 'it.mjs')
  mkdirSync(dirname(path))
  writeFileSync(path, source)
  return path
}

describe.skipIf(!isLinux)('a hostile program in a cage', () => {
  let victim: Bun.Subprocess
  const ways = [
    { how: 'with a user of its own', user: isRoot ? cageUser() : null, isMine: true },
    { how: 'as the server’s own user, in namespaces', user: null, isMine: true },
    ...(isRoot ? [{ how: 'begun by a server that is not root', user: null, isMine: false }] : []),
  ]

  afterAll(() => victim?.kill())

  /** A process of the same user as the program's, or as the server: what it would like to reach. */
  function begin(isMine: boolean) {
    victim?.kill()
    victim = Bun.spawn(['sleep', '60'], { stdio: ['ignore', 'ignore', 'ignore'] })
    if (isMine) return victim
    victim.kill()
    victim = Bun.spawn(['setpriv', '--reuid', String(NOBODY), '--clear-groups', 'sleep', '60'], { stdio: ['ignore', 'ignore', 'ignore'] })
    return victim
  }

  test.each(ways)('$how reaches no process, no file, no rights and no network of others', async ({ how, user, isMine }) => {
    const owner = isMine ? user : NOBODY
    const { own, victim: file } = place(`hostile-${how.length}`, owner)
    const hostile = join(folder, `hostile-program-${how.length}`, 'it.mjs')
    mkdirSync(dirname(hostile))
    copyFileSync(HOSTILE, hostile)
    // Where it keeps its user, the file is that very user's.
    if (owner !== null) chownSync(file, owner, owner)
    const before = statSync(file)
    const { pid } = begin(isMine)
    const limitsOf = () => readFileSync(`/proc/${pid}/limits`, 'utf8')
    const limitsBefore = limitsOf()
    const said = isMine
      ? (await caged(hostile, [String(pid), file], own, { user })).said
      : await new Response(
          Bun.spawn(
            [
              ...['setpriv', '--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups'],
              ...[process.execPath, CHILD, own, hostile, String(pid), file],
            ],
            { env: { HOME: own }, stdout: 'pipe', stderr: 'inherit' },
          ).stdout,
        ).text()
    const told = JSON.parse(said)
    for (const [what, answer] of Object.entries(told.said)) expect([what, answer]).toEqual([what, -1])
    expect(told.clone3).toBe(-1)
    for (const [what, answer] of Object.entries(told.files)) expect([what, answer]).toEqual([what, expect.stringMatching(/^E/)])
    expect(told.user).toBe(owner ?? process.getuid!())
    // At most to read what the cage lets it read.
    for (const set of told.capabilities) expect(set).toMatch(isMine && isRoot ? /^0{15}[04]$/ : /^0{16}$/)
    expect(told.priority).toBeGreaterThan(0)
    expect([victim.killed, limitsOf()]).toEqual([false, limitsBefore])
    const after = statSync(file)
    expect([after.mode, after.uid, after.size, after.mtimeMs]).toEqual([before.mode, before.uid, before.size, before.mtimeMs])
  })

  test('begins none of the programs that its folder names, before it is closed', async () => {
    const user = cageUser()
    const { own, victim: file } = place('preload', user)
    const preload = `
import { readFileSync, writeFileSync } from 'node:fs'
let read
try { read = readFileSync('${file}', 'utf8') } catch (error) { read = error.code }
writeFileSync('preloaded-' + process.ppid + '-' + process.pid, JSON.stringify({ read, user: process.getuid() }))
`
    writeFileSync(join(own, 'bunfig.toml'), 'preload = ["./preload.mjs"]\n')
    writeFileSync(join(own, 'preload.mjs'), preload)
    writeFileSync(join(own, '.env'), 'FROM_THE_FOLDER=1\nBUN_CONFIG_VERBOSE_FETCH=1\n')
    const it = program(
      'preload',
      "import { readdirSync, readFileSync } from 'node:fs'\nprocess.stdout.write(JSON.stringify(readdirSync('.').filter((name) => name.startsWith('preloaded')).map((name) => JSON.parse(readFileSync(name, 'utf8')))))",
    )
    const { said } = await caged(it, [], own, { user })
    expect(JSON.parse(said)).toEqual([{ read: 'EACCES', user: user ?? process.getuid!() }])
  })

  test('begins no end of processes, writes no file without an end, and takes no end of memory', async () => {
    const user = cageUser()
    const { own } = place('greedy', user)
    const bomb = program(
      'bomb',
      `import { spawn } from 'node:child_process'
let begun = 0
try {
  for (; begun < 2_000; begun++) {
    const child = spawn('/bin/sleep', ['30'], { stdio: 'ignore' })
    await new Promise((resolve, reject) => { child.once('spawn', resolve); child.once('error', reject) })
  }
} catch {}
process.stdout.write(String(begun))
process.exit(0)`,
    )
    if (user !== null) expect(Number((await caged(bomb, [], own, { user })).said)).toBeLessThan(512)
    const file = program(
      'file',
      `import { openSync, writeSync } from 'node:fs'
process.on('SIGXFSZ', () => {})
let written = 0
try { const to = openSync('endless', 'w'); for (;;) written += writeSync(to, Buffer.alloc(1024 * 1024)) } catch (error) { process.stdout.write(error.code + ' ' + written) }`,
    )
    expect((await caged(file, [], own, { user })).said).toBe(`EFBIG ${64 * 1024 ** 2}`)
    const memory = program('memory', 'const all = []\nfor (;;) { all.push(new Uint8Array(16 * 1024 * 1024).fill(1)); await Bun.sleep(10) }')
    // Whichever comes first: the kernel's limit, of which the program is told, or our look.
    const greedy = caged(memory, [], own, { user, memoryMaxBytes: 300 * 1024 ** 2 }).then(({ code, said }) => `${code} ${said}`, String)
    expect(await greedy).toMatch(/^Error: too large|^1 [^]*Out of memory/)
  })

  test('is ended with all that it began, by its time, by a signal, and by a look that fails', async () => {
    const user = cageUser()
    const { own } = place('ended', user)
    const mark = `stoa-caged-${process.pid}`
    const it = program(
      'stays',
      `import { spawn } from 'node:child_process'
spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000) // ${mark}'], { stdio: 'ignore', detached: true }).on('error', () => {}).unref()
spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000) // ${mark}'], { stdio: 'ignore' })
setInterval(() => {}, 1000)`,
    )
    const running = () =>
      Bun.spawnSync([
        'grep',
        '-lsa',
        mark,
        ...Array.from(new Bun.Glob('[0-9]*/cmdline').scanSync({ cwd: '/proc', onlyFiles: false }), (path) => `/proc/${path}`),
      ])
        .stdout.toString()
        .split('\n')
        .filter((path) => path && !readFileSync(path, 'utf8').startsWith('grep'))
    await expect(caged(it, [], own, { user, timeMaxMs: 800 })).rejects.toThrow('too slow')
    await expect(caged(it, [], own, { user, signal: AbortSignal.timeout(800) })).rejects.toThrow('timed out')
    const look = async () => {
      throw new Error('nobody can look')
    }
    await expect(caged(it, [], own, { user, look })).rejects.toThrow('nobody can look')
    await Bun.sleep(200)
    expect(running()).toEqual([])
  })
})

test.skipIf(!isLinux || !isRoot)('a user of its own is one that no process runs as', () => {
  const users = Array.from({ length: 50 }, freeUser)
  expect(users.every((user) => user !== null && user >= 61_184 && user <= 65_519)).toBe(true)
  expect(new Set(users).size).toBeGreaterThan(40)
})

describe('a machine', () => {
  test.skipIf(!isLinux)('tells how well it holds builds', async () => {
    expect(await cageStrength()).toEqual({
      landlock: landlockVersion(),
      knowsCalls: true,
      apartBy: isRoot ? 'a user of its own' : expect.stringMatching(/^(namespaces of its own|Landlock)$/),
      isHeld: true,
    })
  })

  test('that can not hold a project builds the starter as it is, and others at the operator’s word alone', async () => {
    const weak = { landlock: 0, knowsCalls: true, apartBy: null, isHeld: false } as const
    expect(notHeld(weak)).toContain('no Landlock')
    expect(notHeld({ ...weak, landlock: 1, apartBy: 'a user of its own' })).toContain('version 1 of Landlock')
    expect(notHeld({ ...weak, landlock: 7 })).toContain('neither a user nor namespaces')
    expect(notHeld({ ...weak, landlock: 7, apartBy: 'Landlock', knowsCalls: false })).toContain('not known')
    const starter = new URL('../../site/storefront', import.meta.url).pathname
    const changed = join(folder, 'changed')
    Bun.spawnSync(['cp', '-r', starter, changed])
    await expect(requireHeld(weak, changed, false)).resolves.toBeUndefined()
    writeFileSync(join(changed, 'astro.config.mjs'), `${readFileSync(join(changed, 'astro.config.mjs'), 'utf8')} `)
    await expect(requireHeld(weak, changed, false)).rejects.toThrow('BUILDS_TRUSTED=1')
    await expect(requireHeld(weak, changed, true)).resolves.toBeUndefined()
    await expect(
      requireHeld({ landlock: 7, knowsCalls: true, apartBy: 'a user of its own', isHeld: true }, changed, false),
    ).resolves.toBeUndefined()
  })
})

test('the filter has its jumps in range on both kinds of machine, and is refused for others', () => {
  for (const arch of ['x64', 'arm64']) {
    const program = Buffer.from(filterOf({ isApart: false, hasUser: false, landlock: 7, pid: 42 }, arch))
    const count = program.length / 8
    expect(count).toBeLessThan(4_096)
    for (let at = 0; at < count; at++) {
      const [code, yes, no] = [program.readUInt16LE(at * 8), program[at * 8 + 2]!, program[at * 8 + 3]!]
      if ((code & 7) === 5) expect(at + 1 + Math.max(yes, no)).toBeLessThan(count)
    }
  }
  expect(() => filterOf({ isApart: true, hasUser: true, landlock: 7, pid: 1 }, 'ppc64')).toThrow('no filter')
})
