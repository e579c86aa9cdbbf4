/* What a hostile program tries inside a cage: told a process and a file of others, it says in JSON how each call was answered. */
import { dlopen, FFIType, ptr } from 'bun:ffi'
import { readFileSync } from 'node:fs'

const { u64, i64 } = FFIType
const { symbols } = dlopen('libc.so.6', {
  syscall: { args: [u64, u64, u64, u64, u64, u64, u64], returns: i64 },
})
const column = process.arch === 'x64' ? 0 : 1
const [pid, path] = [Number(process.argv.at(-2)), process.argv.at(-1)]
const kept = []
const at = (bytes) => (kept.push(bytes), ptr(bytes))
const text = (value) => at(Buffer.from(`${value}\0`))
const [file, name, value, two, info] = [text(path), text('user.x'), text('x'), at(new BigInt64Array([20n, 20n])), at(new Uint8Array(128))]
const [NEW_USER, NEW_NET, CHILD, HERE] = [0x10000000n, 0x40000000n, 17n, -100n]

/** Number of the call on x64 and arm64 (-1: there is none), and its arguments. */
const CALLS = {
  prlimit64: [302, 261, pid, 7, two, 0],
  kill: [62, 129, pid, 9],
  killAll: [62, 129, -1, 0],
  tkill: [200, 130, pid, 9],
  tgkill: [234, 131, pid, pid, 9],
  rt_sigqueueinfo: [129, 138, pid, 9, info],
  rt_tgsigqueueinfo: [297, 240, pid, pid, 9, info],
  pidfd_open: [434, 434, pid, 0],
  pidfd_send_signal: [424, 424, 0, 9, 0, 0],
  sched_setaffinity: [203, 122, pid, 8, two],
  sched_setparam: [142, 118, pid, two],
  sched_setscheduler: [144, 119, pid, 0, two],
  sched_setattr: [314, 274, pid, two, 0],
  setpriority: [141, 140, 0, pid, 19],
  ioprio_set: [251, 30, 1, pid, 0],
  ptrace: [101, 117, 16, pid, 0, 0],
  process_vm_readv: [310, 270, pid, two, 1, two, 1, 0],
  process_madvise: [440, 440, 0, two, 1, 0, 0],
  migrate_pages: [256, 238, pid, 8, two, two],
  cloneUser: [56, 220, NEW_USER | CHILD],
  cloneNet: [56, 220, NEW_NET | CHILD],
  unshare: [272, 97, NEW_USER],
  setns: [308, 268, 0, NEW_USER],
  chmod: [90, -1, file, 0o777],
  fchmodat: [268, 53, HERE, file, 0o777],
  fchmodat2: [452, 452, HERE, file, 0o777, 0],
  chown: [92, -1, file, 1, 1],
  lchown: [94, -1, file, 1, 1],
  fchownat: [260, 54, HERE, file, 1, 1, 0],
  utime: [132, -1, file, 0],
  utimes: [235, -1, file, 0],
  futimesat: [261, -1, HERE, file, 0],
  utimensat: [280, 88, HERE, file, 0, 0],
  setxattr: [188, 5, file, name, value, 1, 0],
  lsetxattr: [189, 6, file, name, value, 1, 0],
  removexattr: [197, 14, file, name],
  setxattrat: [463, 463, HERE, file, 0, name, two, 16],
  truncate: [76, 45, file, 0],
  link: [86, -1, file, text('here')],
  rename: [82, -1, file, text('here')],
  unlink: [87, -1, file],
  mount: [165, 40, 0, file, 0, 0, 0],
  chroot: [161, 51, file],
  socket: [41, 198, 2, 1, 0],
  unixSocket: [41, 198, 1, 1, 0],
  netlink: [41, 198, 16, 3, 0],
  datagrams: [53, 199, 1, 2, 0, two],
  datagramsClosed: [53, 199, 1, 2 | 0o2000000, 0, two],
  pairOfInternet: [53, 199, 2, 1, 0, two],
  buffer: [54, 208, 0, 1, 7, two, 4],
  sharedMemory: [9, 222, 0, 4096, 3, 0x21, -1, 0],
  roomWithoutSize: [285, 47, 0, 1, 0, 4096],
  io_uring_setup: [425, 425, 1, two],
  memfd_create: [319, 279, name, 0],
  shmget: [29, 194, 0, 4096, 0o1666],
  keyctl: [250, 219, 0, 0],
  bpf: [321, 280, 0, two, 8],
  userfaultfd: [323, 282, 0],
  perf_event_open: [298, 241, two, pid, -1, -1, 0],
  open_by_handle_at: [304, 265, 0, two, 0],
  setsid: [112, 157],
  setpgid: [109, 154, 0, 0],
  dieAlone: [157, 167, 1, 0],
  inotify_init: [253, -1],
  x32: [0x40000000 + 39, -1],
  personality: [135, 92, 0],
  newest: [467, 467, 0],
}

const said = {}
for (const [what, [x64, arm64, ...args]] of Object.entries(CALLS)) {
  const number = column === 0 ? x64 : arm64
  if (number < 0) continue
  const [a = 0n, b = 0n, c = 0n, d = 0n, e = 0n, f = 0n] = args.map((arg) => BigInt.asUintN(64, BigInt(arg)))
  said[what] = Number(symbols.syscall(BigInt(number), a, b, c, d, e, f))
}
const clone3 = Number(symbols.syscall(435n, BigInt(two), 0n, 0n, 0n, 0n, 0n))
const read = (what) => {
  try {
    return readFileSync(what, 'utf8').slice(0, 20)
  } catch (error) {
    return error.code
  }
}
const status = readFileSync('/proc/self/status', 'utf8')
const lineOf = (field) => new RegExp(`^${field}:\\s+(.+)$`, 'm').exec(status)[1]
process.stdout.write(
  JSON.stringify({
    said,
    clone3,
    files: {
      passwd: read('/etc/passwd'),
      victim: read(path),
      environment: read(`/proc/${pid}/environ`),
      connections: read('/proc/self/net/tcp'),
      mounts: read('/proc/self/mountinfo'),
      memory: read(`/proc/${pid}/mem`),
    },
    user: Number(lineOf('Uid').split('\t')[0]),
    capabilities: [lineOf('CapEff'), lineOf('CapBnd')],
    priority: Number(readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ')[16]),
  }),
)
