/**
 * Becomes a program that can read and write a few folders and nothing else, and reach no network: builds of projects run what others wrote.
 * Held by the kernel before the program begins (Landlock for files, seccomp for calls, a user or namespaces of its own for what names a
 * process), without tools that a container might lack. Told what to do in its last argument, a `Confinement`.
 */
import { existsSync, openSync, statSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { ptr } from 'bun:ffi'
import { filterOf } from './calls.ts'
import { call, landlockVersion, NUMBERS } from './kernel.ts'

export interface Confinement {
  /** Folders and files that may be read, and programs in them run. */
  read: string[]
  /** Folders in which anything may be done. */
  write: string[]
  /** The program and its arguments. */
  command: string[]
  /** All of its environment. */
  env: Record<string, string>
  /** The folder that it begins in. */
  cwd: string
  /** The most bytes that one file may have. */
  fileMaxBytes: number
  /** The most bytes of address space that it may write to: several times what it really takes. */
  dataMaxBytes: number
  /** The most threads of all of its processes; held where it has a user or a namespace of its own. */
  threadsMax: number
  /** The user and group that it becomes, which nobody else is; null: it stays who it is. */
  user: number | null
  /** The process that this one ends with. */
  parent: number
}

const PATH_BENEATH = 1
/** What may be done with files (linux/landlock.h), by the version of Landlock that knows it. */
const [EXECUTE, WRITE_FILE, READ_FILE, READ_DIR] = [1, 2, 4, 8]
const TRUNCATE = 1 << 14
const rightsOf = (version: number) =>
  (1 << 13) - 1 + (version >= 2 ? 1 << 13 : 0) + (version >= 3 ? TRUNCATE : 0) + (version >= 5 ? 1 << 15 : 0)
const READING = EXECUTE | READ_FILE | READ_DIR
/** Of a right that is given for a file and not a folder. */
const OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
/** Signals and unnamed sockets do not leave it, from version 6 on. */
const SCOPED = 3n
const DEVICES = ['/dev/null', '/dev/urandom', '/dev/random']
/** What a program reads of itself in /proc. Not its folder, which has the connections of the whole machine. */
const OWN_FILES = ['maps', 'smaps', 'stat', 'statm', 'status', 'cmdline', 'auxv', 'limits', 'cgroup', 'comm', 'environ', 'fd']
const [AT_FDCWD, O_PATH, O_CLOEXEC] = [-100, 0o10000000, 0o2000000]

const [PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_SECUREBITS, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT] = [1, 22, 24, 28, 38, 47]
/** Who becomes another user keeps what is left to it, and `access` tells what it may with it. */
const NO_SETUID_FIXUP = 0b1100
const [FILTER, RAISE] = [2, 2]
const SIGKILL = 9
const NICE = 10
const FILES_OPEN_MAX = 4_096
const isRoot = process.getuid?.() === 0
const [RLIMIT_FSIZE, RLIMIT_DATA, RLIMIT_CORE, RLIMIT_NPROC, RLIMIT_NOFILE] = [1, 2, 4, 6, 7]
const CAPABILITIES_VERSION_3 = 0x20080522
const [CAP_DAC_READ_SEARCH, LAST_CAPABILITY] = [2, 63]
const [NEW_USER, NEW_PID, SIGCHLD] = [0x10000000, 0x20000000, 17]

/** One system call on the way. */
interface Step {
  what: string
  number: number
  args: (number | bigint)[]
  isOptional?: boolean
  /** Four bytes that take the answer. */
  keep?: Uint8Array
}

/** What has to stay where the kernel was told that it is. */
const kept: unknown[] = []
const at = (bytes: NodeJS.TypedArray): number => {
  // A small array moves when its buffer is asked for.
  kept.push(bytes.buffer)
  return ptr(bytes)
}
const text = (value: string) => at(Buffer.from(`${value}\0`))
const texts = (values: string[]) => at(new BigUint64Array([...values.map((value) => BigInt(text(value))), 0n]))

/** The rules of Landlock, made but not yet in force; what is still to be done for them. Throws where Landlock is not there. */
function filesHeld({ read, write }: Confinement): Step[] {
  const version = landlockVersion()
  if (version < 1) throw new Error('this kernel has no Landlock')
  const rights = rightsOf(version)
  const attributes = new BigUint64Array([BigInt(rights), version >= 4 ? 3n : 0n, version >= 6 ? SCOPED : 0n])
  const size = version >= 6 ? 24 : version >= 4 ? 16 : 8
  const ruleset = call(NUMBERS.landlock_create_ruleset, ptr(attributes), size, 0)
  if (ruleset < 0) throw new Error('no ruleset of Landlock could be made')
  const ruleOf = (wanted: number) => {
    const rule = Buffer.alloc(12)
    rule.writeBigUInt64LE(BigInt(wanted & rights), 0)
    return rule
  }
  const allow = (path: string, wanted: number) => {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (!stats) return
    const rule = ruleOf(wanted & (stats.isDirectory() ? rights : OF_FILES))
    rule.writeInt32LE(openSync(path, O_PATH), 8)
    if (call(NUMBERS.landlock_add_rule, ruleset, PATH_BENEATH, ptr(rule), 0) !== 0) throw new Error(`${path} can not be allowed`)
  }
  for (const path of read) allow(path, READING)
  for (const path of write) allow(path, rights)
  for (const device of DEVICES) allow(device, READ_FILE | WRITE_FILE)
  // Only the process itself can name its own files.
  const steps = OWN_FILES.flatMap((name): Step[] => {
    const own = ruleOf(name === 'fd' ? READ_DIR : READ_FILE)
    const what = `its own /proc/self/${name}`
    return [
      { what, number: NUMBERS.openat, args: [AT_FDCWD, text(`/proc/self/${name}`), O_PATH | O_CLOEXEC, 0], keep: own.subarray(8) },
      { what, number: NUMBERS.landlock_add_rule, args: [ruleset, PATH_BENEATH, at(own), 0] },
    ]
  })
  return [...steps, { what: 'Landlock', number: NUMBERS.landlock_restrict_self, args: [ruleset, 0] }]
}

function callsHeld(how: Parameters<typeof filterOf>[0]): Step[] {
  const filter = filterOf(how)
  const head = at(new BigUint64Array([BigInt(filter.length / 8), BigInt(at(filter))]))
  return [{ what: 'the filter of calls', number: NUMBERS.prctl, args: [PR_SET_SECCOMP, FILTER, head, 0, 0] }]
}

const warned = new Set<string>()
/** Runs `make`; where the kernel lacks what it takes, the log says so, and whoever begins builds has to know it (`landlockVersion`). */
function asFarAs(what: string, make: () => Step[]): Step[] {
  try {
    return make()
  } catch (error) {
    // An old kernel, or one in a sandbox of another kind: a store that is built there is built by people who are trusted.
    if (!warned.has(what)) console.error(`warning: the build's ${what} are not confined: ${(error as Error).message}`)
    warned.add(what)
    return []
  }
}

const prctl = (what: string, ...args: number[]): Step => ({ what, number: NUMBERS.prctl, args: [...args, 0, 0, 0, 0].slice(0, 5) })

/** Becomes another user, and gives up what root may do beyond others. */
function rightsHeld({ user }: Confinement): Step[] {
  // It reads what Landlock lets it read, whoever it belongs to: folders of the server are for the server's user alone.
  const readsAll = isRoot && landlockVersion() > 0
  const isKept = (capability: number) => readsAll && capability === CAP_DAC_READ_SEARCH
  const steps: Step[] = user === null ? [] : [prctl('rights', PR_SET_SECUREBITS, NO_SETUID_FIXUP)]
  for (let capability = 0; capability <= LAST_CAPABILITY; capability++)
    if (!isKept(capability)) steps.push({ ...prctl('rights', PR_CAPBSET_DROP, capability), isOptional: true })
  if (user !== null)
    steps.push(
      { what: 'groups', number: NUMBERS.setgroups, args: [0, 0] },
      { what: 'the group', number: NUMBERS.setresgid, args: [user, user, user] },
      { what: 'the user', number: NUMBERS.setresuid, args: [user, user, user] },
    )
  const own = readsAll ? 1 << CAP_DAC_READ_SEARCH : 0
  const [head, sets] = [at(new Uint32Array([CAPABILITIES_VERSION_3, 0])), at(new Uint32Array([own, own, own, 0, 0, 0]))]
  steps.push({ what: 'rights', number: NUMBERS.capset, args: [head, sets], isOptional: own === 0 && !isRoot })
  if (own && user !== null) steps.push(prctl('the right to read', PR_CAP_AMBIENT, RAISE, CAP_DAC_READ_SEARCH))
  return steps
}

/** All that is done from here to the program, in order. */
function wayTo(confinement: Confinement, pid: number, hasNamespace: boolean): Step[] {
  const { command, env, cwd, user, fileMaxBytes, dataMaxBytes, threadsMax } = confinement
  const isApart = hasNamespace || user !== null
  const isCounted = user !== null || (hasNamespace && !isRoot)
  const limit = (which: number, most: number): Step => ({
    ...{ what: 'limits', number: NUMBERS.prlimit64 },
    args: [0, which, at(new BigUint64Array([BigInt(most), BigInt(most)])), 0],
  })
  const endsWithParent = prctl('its end with its parent', PR_SET_PDEATHSIG, SIGKILL)
  return [
    endsWithParent,
    ...rightsHeld(confinement),
    // Another user has forgotten it.
    endsWithParent,
    limit(RLIMIT_FSIZE, fileMaxBytes),
    limit(RLIMIT_DATA, dataMaxBytes),
    limit(RLIMIT_CORE, 0),
    limit(RLIMIT_NOFILE, FILES_OPEN_MAX),
    // Of who has no user of their own all processes would be counted, whatever they are.
    ...(isCounted ? [limit(RLIMIT_NPROC, threadsMax)] : []),
    prctl('privileges', PR_SET_NO_NEW_PRIVS, 1),
    ...asFarAs('files', () => filesHeld(confinement)),
    ...asFarAs('sockets', () => callsHeld({ isApart, hasUser: user !== null, landlock: landlockVersion(), pid })),
    // Not before: what lies in that folder may say what a program does that begins there.
    { what: cwd, number: NUMBERS.chdir, args: [text(cwd)] },
    {
      what: command[0]!,
      number: NUMBERS.execve,
      args: [text(command[0]!), texts(command), texts(Object.entries(env).map(([name, value]) => `${name}=${value}`))],
    },
  ]
}

const refusal = ({ what }: Step) => `error: the build can not begin: ${what} is refused\n`

/** Goes the way in this very process. Does not return. */
function goHere(steps: Step[]): never {
  for (const step of steps) {
    const answer = call(step.number, ...step.args)
    if (step.keep) new DataView(step.keep.buffer, step.keep.byteOffset).setInt32(0, answer, true)
    if (answer >= 0 || step.isOptional) continue
    process.stderr.write(refusal(step))
    break
  }
  process.exit(1)
}

const STEP_WORDS = 11
/** The same as `begin.c` takes it. */
function written(steps: Step[]): BigInt64Array {
  const words = new BigInt64Array(steps.length * STEP_WORDS)
  for (const [n, step] of steps.entries()) {
    const said = Buffer.from(refusal(step))
    const numbers = [...step.args, 0, 0, 0, 0, 0, 0].slice(0, 6)
    const all = [step.number, ...numbers, step.keep ? at(step.keep) : 0, step.isOptional ? 1 : 0, at(said), said.length]
    words.set(
      all.map((word) => BigInt.asIntN(64, BigInt(word))),
      n * STEP_WORDS,
    )
  }
  return words
}

const WORD = 'i64'
/** Goes the way in a process of its own that sees no other; its number, or null where there are no namespaces to be had. */
async function goApart(steps: Step[], flags: number): Promise<number | null> {
  try {
    const { cc } = await import('bun:ffi')
    const { symbols } = cc({
      source: new URL('begin.c', import.meta.url).pathname,
      symbols: { begin: { args: [WORD, WORD, WORD, WORD, WORD, WORD], returns: WORD } },
    })
    const words = written(steps)
    const { clone, write, exit_group: exit } = NUMBERS
    const [list, count] = [BigInt(at(words)), BigInt(steps.length)]
    const child = Number(symbols.begin(BigInt(clone), BigInt(flags | SIGCHLD), BigInt(write), BigInt(exit), list, count))
    return child > 0 ? child : null
  } catch {
    return null
  }
}

/** Waits for a process, and ends as it has ended. */
function endWith(child: number): never {
  const status = new Int32Array(1)
  while (call(NUMBERS.wait4, child, ptr(status), 0, 0) !== child) if (!existsSync(`/proc/${child}`)) process.exit(1)
  const signal = status[0]! & 0x7f
  process.exit(signal ? 128 + signal : (status[0]! >> 8) & 0xff)
}

async function become(confinement: Confinement) {
  const { parent } = confinement
  // Of all processes this is the one to end when there is no memory.
  writeFileSync('/proc/self/oom_score_adj', '1000')
  // Requests go before it.
  setPriority(NICE)
  call(NUMBERS.prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)
  if (process.ppid !== parent) process.exit(1)
  const child = await goApart(wayTo(confinement, 1, true), isRoot ? NEW_PID : NEW_USER | NEW_PID)
  if (child !== null) endWith(child)
  goHere(wayTo(confinement, process.pid, false))
}

if (import.meta.main) {
  try {
    await become(JSON.parse(process.argv.at(-1)!) as Confinement)
  } catch (error) {
    console.error(`error: the build can not begin: ${(error as Error).message}`)
    process.exit(1)
  }
}
