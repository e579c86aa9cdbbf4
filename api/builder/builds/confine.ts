/**
 * Runs a command that can read and write a few folders and nothing else, and reach no network: a project's build runs what its authors
 * wrote. Done by the kernel (Landlock for files and signals, seccomp for sockets), before the command begins, without rights or tools of
 * a kind that a container might lack. Where the kernel has no Landlock the log of the build says so.
 */
import { openSync, statSync, writeFileSync } from 'node:fs'
import { dlopen, FFIType, ptr } from 'bun:ffi'

export interface Confinement {
  /** Folders and files that may be read, and programs in them run. */
  read: string[]
  /** Folders in which anything may be done. */
  write: string[]
  /** The program and its arguments. */
  command: string[]
  /** All of its environment. */
  env: Record<string, string>
  /** The most bytes that one file may have. */
  fileMaxBytes: number
  /** The process that this one ends with. */
  parent: number
}

const { u64, i64, i32, ptr: pointer } = FFIType
const LIBRARIES = ['libc.so.6', 'libc.musl-x86_64.so.1', 'libc.musl-aarch64.so.1']
const SIGNATURES = {
  syscall: { args: [u64, u64, u64, u64, u64, u64], returns: i64 },
  prctl: { args: [i32, u64, u64, u64, u64], returns: i32 },
  setrlimit: { args: [i32, pointer], returns: i32 },
  execve: { args: [pointer, pointer, pointer], returns: i32 },
} as const

function libc() {
  for (const name of LIBRARIES)
    try {
      return dlopen(name, SIGNATURES).symbols
    } catch {
      /* another system's library */
    }
  throw new Error('there is no C library that is known here')
}

const [CREATE_RULESET, ADD_RULE, RESTRICT_SELF] = [444, 445, 446]
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
const O_PATH = 0o10000000

type Libc = ReturnType<typeof libc>

/** Allows what is named, and nothing else of the file system, of TCP and of other processes. Throws where Landlock is not there. */
function restrictFiles(c: Libc, { read, write }: Confinement) {
  const call = (...args: number[]) =>
    Number(c.syscall(...([...args, 0, 0, 0, 0, 0, 0].slice(0, 6).map(BigInt) as [bigint, bigint, bigint, bigint, bigint, bigint])))
  const version = call(CREATE_RULESET, 0, 0, 1)
  if (version < 1) throw new Error('this kernel has no Landlock')
  const rights = rightsOf(version)
  const attributes = new BigUint64Array([BigInt(rights), version >= 4 ? 3n : 0n, version >= 6 ? SCOPED : 0n])
  const ruleset = call(CREATE_RULESET, ptr(attributes), version >= 6 ? 24 : version >= 4 ? 16 : 8, 0)
  if (ruleset < 0) throw new Error('no ruleset of Landlock could be made')
  const allow = (path: string, wanted: number) => {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (!stats) return
    const rule = Buffer.alloc(12)
    rule.writeBigUInt64LE(BigInt(wanted & rights & (stats.isDirectory() ? rights : OF_FILES)), 0)
    rule.writeInt32LE(openSync(path, O_PATH), 8)
    if (call(ADD_RULE, ruleset, PATH_BENEATH, ptr(rule), 0) !== 0) throw new Error(`${path} can not be allowed`)
  }
  for (const path of read) allow(path, READING)
  for (const path of write) allow(path, rights)
  for (const device of ['/dev/null', '/dev/zero', '/dev/urandom', '/dev/random']) allow(device, READ_FILE | WRITE_FILE)
  allow('/proc/self', READ_FILE | READ_DIR)
  if (call(RESTRICT_SELF, ruleset, 0) !== 0) throw new Error('Landlock could not be turned on')
}

/** System calls that are refused, by their numbers on both kinds of machine. */
const REFUSED: Record<string, readonly [x64: number, arm64: number]> = {
  socket: [41, 198],
  ptrace: [101, 117],
  setpgid: [109, 154],
  setsid: [112, 157],
  mount: [165, 40],
  unshare: [272, 97],
  perf_event_open: [298, 241],
  memfd_create: [319, 279],
  // Memory that outlives its process.
  shmget: [29, 194],
  semget: [64, 190],
  msgget: [68, 186],
  mq_open: [240, 180],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // What a build that runs as root could do to the machine.
  chroot: [161, 51],
  pivot_root: [155, 41],
  umount2: [166, 39],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  init_module: [175, 105],
  delete_module: [176, 106],
  finit_module: [313, 273],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  acct: [163, 89],
  quotactl: [179, 60],
  fanotify_init: [300, 262],
  open_by_handle_at: [304, 265],
  userfaultfd: [323, 282],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsmount: [432, 432],
  mount_setattr: [442, 442],
  setns: [308, 268],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  bpf: [321, 280],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  pidfd_open: [434, 434],
}
const ARCHITECTURES: Partial<Record<string, readonly [id: number, column: 0 | 1]>> = { x64: [0xc000003e, 0], arm64: [0xc00000b7, 1] }
const [LOAD, JUMP_EQUAL, JUMP_AT_LEAST, RETURN] = [0x20, 0x15, 0x35, 0x06]
const [ALLOW, KILL, EACCES] = [0x7fff0000, 0x80000000, 0x00050000 | 13]
/** Above it are the numbers of another calling convention. */
const X32 = 0x40000000

/** Refuses sockets of any kind, and what could get round this. */
function restrictCalls(c: Libc) {
  const [architecture, column] = ARCHITECTURES[process.arch] ?? []
  if (architecture === undefined) throw new Error(`no filter is known for ${process.arch}`)
  const program: [code: number, yes: number, no: number, value: number][] = [
    [LOAD, 0, 0, 4],
    [JUMP_EQUAL, 1, 0, architecture],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, 0],
    [JUMP_AT_LEAST, 0, 1, X32],
    [RETURN, 0, 0, EACCES],
  ]
  for (const numbers of Object.values(REFUSED)) program.push([JUMP_EQUAL, 0, 1, numbers[column!]], [RETURN, 0, 0, EACCES])
  program.push([RETURN, 0, 0, ALLOW])
  const filter = Buffer.alloc(program.length * 8)
  for (const [at, [code, yes, no, value]] of program.entries()) {
    filter.writeUInt16LE(code, at * 8)
    filter.writeUInt8(yes, at * 8 + 2)
    filter.writeUInt8(no, at * 8 + 3)
    filter.writeUInt32LE(value, at * 8 + 4)
  }
  const head = new BigUint64Array([BigInt(program.length), BigInt(ptr(filter))])
  if (c.prctl(PR_SET_SECCOMP, 2n, BigInt(ptr(head)), 0n, 0n) !== 0) throw new Error('the filter of system calls could not be set')
}

const [PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS] = [1, 22, 38]
const SIGKILL = 9n
const [RLIMIT_FSIZE, RLIMIT_CORE] = [1, 4]

/** An array of C strings, and what keeps them alive. */
function strings(texts: string[]) {
  const kept = texts.map((text) => Buffer.from(`${text}\0`))
  return { kept, array: new BigUint64Array([...kept.map((bytes) => BigInt(ptr(bytes))), 0n]) }
}

const CAPSET = process.arch === 'arm64' ? 91 : 126
const CAPABILITIES_VERSION_3 = 0x20080522
const LAST_CAPABILITY = 63
const PR_CAPBSET_DROP = 24

/** Gives up what root may do beyond others; of who is not root there is nothing to give up. */
function dropCapabilities(c: Libc) {
  for (let capability = 0; capability <= LAST_CAPABILITY; capability++) c.prctl(PR_CAPBSET_DROP, BigInt(capability), 0n, 0n, 0n)
  const head = new Uint32Array([CAPABILITIES_VERSION_3, 0])
  const none = new Uint32Array(6)
  c.syscall(BigInt(CAPSET), BigInt(ptr(head)), BigInt(ptr(none)), 0n, 0n, 0n)
}

/** Becomes the command, confined. Does not return. */
function become(confinement: Confinement) {
  const c = libc()
  const { command, env: variables, fileMaxBytes, parent } = confinement
  // Of all processes this is the one to end when there is no memory.
  writeFileSync('/proc/self/oom_score_adj', '1000')
  c.prctl(PR_SET_PDEATHSIG, SIGKILL, 0n, 0n, 0n)
  if (process.ppid !== parent) process.exit(1)
  const limit = (which: number, most: number) => c.setrlimit(which, ptr(new BigUint64Array([BigInt(most), BigInt(most)])))
  limit(RLIMIT_FSIZE, fileMaxBytes)
  limit(RLIMIT_CORE, 0)
  const [program, args, env] = [
    Buffer.from(`${command[0]}\0`),
    strings(command),
    strings(Object.entries(variables).map(([name, value]) => `${name}=${value}`)),
  ]
  if (c.prctl(PR_SET_NO_NEW_PRIVS, 1n, 0n, 0n, 0n) !== 0) throw new Error('privileges can not be given up')
  dropCapabilities(c)
  for (const [what, restrict] of [
    ['files', () => restrictFiles(c, confinement)],
    ['sockets', () => restrictCalls(c)],
  ] as const)
    try {
      restrict()
    } catch (error) {
      // An old kernel, or one in a sandbox of another kind: a store that is built there is built by people who are trusted.
      console.error(`warning: the build's ${what} are not confined: ${(error as Error).message}`)
    }
  c.execve(ptr(program), ptr(args.array), ptr(env.array))
  throw new Error(`${command[0]} can not be run`)
}

if (import.meta.main) {
  try {
    become(JSON.parse(process.argv[2]!) as Confinement)
  } catch (error) {
    console.error(`error: the build can not begin: ${(error as Error).message}`)
    process.exit(1)
  }
}
