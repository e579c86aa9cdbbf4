/**
 * The system calls that a confined program may make: a list of what is allowed, since one of what is refused forgets what the next kernel
 * brings. Calls that could name something of others (a process, a path's rights, a namespace) are looked at by their arguments. Pure: what
 * is made here is a program for the kernel's filter (seccomp).
 */

/** Numbers of a call on x64 and arm64. */
const ALLOWED = [
  // Files: which ones, Landlock says.
  'read:0:63 write:1:64 open:2:- openat:257:56 openat2:437:437 creat:85:- close:3:57 close_range:436:436 stat:4:- fstat:5:80',
  'lstat:6:- newfstatat:262:79 statx:332:291 statfs:137:43 fstatfs:138:44 lseek:8:62 pread64:17:67 pwrite64:18:68 readv:19:65',
  'writev:20:66 preadv:295:69 pwritev:296:70 preadv2:327:286 pwritev2:328:287 access:21:- faccessat:269:48 faccessat2:439:439',
  'dup:32:23 dup2:33:- dup3:292:24 pipe:22:- pipe2:293:59 fcntl:72:25 flock:73:32 fsync:74:82 fdatasync:75:83 ftruncate:77:46',
  'fadvise64:221:223 readahead:187:213 sync_file_range:277:84 sendfile:40:71 copy_file_range:326:285 splice:275:76',
  'tee:276:77 getdents:78:- getdents64:217:61 getcwd:79:17 chdir:80:49 fchdir:81:50 rename:82:- renameat:264:38 renameat2:316:276',
  'mkdir:83:- mkdirat:258:34 rmdir:84:- link:86:- linkat:265:37 unlink:87:- unlinkat:263:35 symlink:88:- symlinkat:266:36',
  'readlink:89:- readlinkat:267:78 mknod:133:- mknodat:259:33 umask:95:166',
  // Memory.
  'mprotect:10:226 munmap:11:215 mremap:25:216 madvise:28:233 brk:12:214 msync:26:227 mlock:149:228',
  'mlock2:325:284 munlock:150:229 membarrier:324:283 pkey_alloc:330:289 pkey_free:331:290 pkey_mprotect:329:288',
  // Waiting.
  'poll:7:- ppoll:271:73 select:23:- pselect6:270:72 epoll_create:213:- epoll_create1:291:20 epoll_ctl:233:21 epoll_wait:232:-',
  'epoll_pwait:281:22 epoll_pwait2:441:441 eventfd:284:- eventfd2:290:19 timerfd_create:283:85 timerfd_settime:286:86',
  'timerfd_gettime:287:87 signalfd:282:- signalfd4:289:74 futex:202:98 futex_waitv:449:449 nanosleep:35:101 clock_nanosleep:230:115',
  'pause:34:- alarm:37:- getitimer:36:102 setitimer:38:103 timer_create:222:107 timer_settime:223:110 timer_gettime:224:108',
  'timer_getoverrun:225:109 timer_delete:226:111 restart_syscall:219:128 sched_yield:24:124',
  // Processes and threads of its own.
  'vfork:58:- fork:57:- execve:59:221 execveat:322:281 exit:60:93 exit_group:231:94 wait4:61:260 waitid:247:95',
  'set_tid_address:218:96 set_robust_list:273:99 rseq:334:293 arch_prctl:158:- gettid:186:178 getpid:39:172 getppid:110:173',
  'getpgid:121:155 getpgrp:111:- getsid:124:156 getuid:102:174 geteuid:107:175 getgid:104:176 getegid:108:177 getgroups:115:158',
  'getresuid:118:148 getresgid:120:150 getrusage:98:165 getrlimit:97:163 setrlimit:160:164 times:100:153 capget:125:90',
  'seccomp:317:277 getpriority:140:141 sched_getaffinity:204:123 sched_getparam:143:121 sched_getscheduler:145:120',
  'sched_get_priority_max:146:125 sched_get_priority_min:147:126 getcpu:309:168',
  // Signals to itself.
  'rt_sigaction:13:134 rt_sigprocmask:14:135 rt_sigreturn:15:139 rt_sigpending:127:136 rt_sigsuspend:130:133',
  'rt_sigtimedwait:128:137 sigaltstack:131:132',
  // Pairs of sockets, between its own processes: no call here makes one that leads elsewhere.
  'sendto:44:206 recvfrom:45:207 sendmsg:46:211 recvmsg:47:212 sendmmsg:307:269 recvmmsg:299:243 shutdown:48:210',
  'getsockopt:55:209 getsockname:51:204 getpeername:52:205',
  // The time, randomness, and what kind of machine it is.
  'uname:63:160 sysinfo:99:179 getrandom:318:278 gettimeofday:96:169 time:201:- clock_gettime:228:113 clock_getres:229:114',
]

/** Signals, for which the kernel holds the program where it has a user or a namespace of its own; else to itself alone. */
const SIGNALS = ['kill:62:129', 'tkill:200:130', 'tgkill:234:131']
/** Rights and times of what is open. Of its own user's they are refused silently: tools that copy files set them. */
const OF_OPEN_FILES = ['fchmod:91:52', 'fchown:93:55']
/** Below version 3 Landlock doesn't know it. */
const TRUNCATE = 'truncate:76:45'
/** Reads flags and sizes, and copies extents (FICLONE). Not what writes to a terminal or sets attributes of files. */
const IOCTLS = [0x5401, 0x5413, 0x541b, 0x5421, 0x5450, 0x5451, 0x40049409]
/** New namespaces, in the flags of `clone`. */
const NEW_NAMESPACES = 0x7e020000
const PR_SET_PDEATHSIG = 1
/** Sockets that can name others: a datagram goes wherever its address says. */
const [UNIX, TYPE_OF_SOCKET, DATAGRAM] = [1, 0xf, 2]
/** Memory of nobody's file that is shared: what is let go of it is counted nowhere. */
const [SHARING, SHARED_ANONYMOUS] = [0x2f, [0x21, 0x23]] as const
/** The kernel's memory for what was not read yet (SO_SNDBUF, SO_RCVBUF and those that force them). */
const BUFFERS = [7, 8, 32, 33]
/** Calls from here on are younger than this list: programs know what to do where a kernel lacks them. */
const UNKNOWN_FROM = 452
/** Above it are the numbers of another calling convention. */
const X32 = 0x40000000

const ARCHITECTURES: Partial<Record<string, readonly [id: number, column: 1 | 2]>> = { x64: [0xc000003e, 1], arm64: [0xc00000b7, 2] }
const [LOAD, AND, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, RETURN] = [0x20, 0x54, 0x15, 0x35, 0x45, 0x06]
const ERRNO = 0x00050000
const [ALLOW, KILL, SILENT, EACCES] = [0x7fff0000, 0x80000000, ERRNO, ERRNO | 13]
const [ENOTTY, ENOSYS, EOPNOTSUPP] = [ERRNO | 25, ERRNO | 38, ERRNO | 95]
/** Where the kernel puts the number, the architecture and the arguments, whose lower halves are looked at. */
const [NUMBER, ARCHITECTURE] = [0, 4]
const argument = (n: number) => 16 + 8 * n

type Instruction = readonly [code: number, value: number, yes?: number, no?: number]

interface Cage {
  /** The kernel keeps its signals and limits to its own processes: it has a user or a namespace of its own. */
  isApart: boolean
  /** Its files are of a user of its own. */
  hasUser: boolean
  /** The version of Landlock that holds it; 0: none. */
  landlock: number
  /** The number that it will have as a process, in the namespace that it sees. */
  pid: number
}

/** Whether the calls of this kind of machine are known. */
export const knowsCalls = (arch: string = process.arch) => ARCHITECTURES[arch] !== undefined

const always = (outcome: number): Instruction => [RETURN, outcome]
/** What is done with a call by one of its arguments. */
const ifEqual = (n: number, values: readonly number[], outcome: number, otherwise: number): Instruction[] => [
  [LOAD, argument(n)],
  ...values.flatMap((value): Instruction[] => [[JUMP_EQUAL, value, 0, 1], always(outcome)]),
  always(otherwise),
]

/** A program as the kernel takes it. */
function encoded(program: readonly Instruction[]): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.alloc(program.length * 8)
  for (const [at, [code, value, yes = 0, no = 0]] of program.entries()) {
    bytes.writeUInt16LE(code, at * 8)
    bytes.writeUInt8(yes, at * 8 + 2)
    bytes.writeUInt8(no, at * 8 + 3)
    bytes.writeUInt32LE(value >>> 0, at * 8 + 4)
  }
  return new Uint8Array(bytes)
}

/** The filter's program, as the kernel takes it: eight bytes an instruction. Throws for a machine whose numbers are not known. */
export function filterOf({ isApart, hasUser, landlock, pid }: Cage, arch: string = process.arch): Uint8Array<ArrayBuffer> {
  const [architecture, column] = ARCHITECTURES[arch] ?? []
  if (architecture === undefined) throw new Error(`no filter is known for ${arch}`)
  const numberOf = (call: string) => Number(call.split(':')[column!]!.replace('-', '-1'))
  const program: Instruction[] = [
    [LOAD, ARCHITECTURE],
    [JUMP_EQUAL, architecture, 1, 0],
    [RETURN, KILL],
    [LOAD, NUMBER],
    [JUMP_AT_LEAST, X32, 0, 1],
    [RETURN, EACCES],
  ]
  /** What is done with a call; the number stands in the register again behind it. */
  const rule = (call: string, ...body: Instruction[]) => {
    if (numberOf(call) >= 0) program.push([JUMP_EQUAL, numberOf(call), 0, body.length], ...body)
  }
  for (const call of ALLOWED.flatMap((line) => line.split(' '))) rule(call, always(ALLOW))
  rule('clone:56:220', [LOAD, argument(0)], [JUMP_ANY_BIT, NEW_NAMESPACES, 0, 1], always(EACCES), always(ALLOW))
  // What it asks for stands in memory, where no filter looks. Programs use `clone` then.
  rule('clone3:435:435', always(ENOSYS))
  rule('prlimit64:302:261', ...ifEqual(0, [0], ALLOW, EACCES))
  for (const call of SIGNALS) rule(call, ...(isApart ? [always(ALLOW)] : ifEqual(0, [pid], ALLOW, EACCES)))
  rule(
    'socketpair:53:199',
    [LOAD, argument(0)],
    [JUMP_EQUAL, UNIX, 1, 0],
    always(EACCES),
    [LOAD, argument(1)],
    [AND, TYPE_OF_SOCKET],
    [JUMP_EQUAL, DATAGRAM, 0, 1],
    always(EACCES),
    always(ALLOW),
  )
  rule(
    'mmap:9:222',
    [LOAD, argument(3)],
    [AND, SHARING],
    ...SHARED_ANONYMOUS.flatMap((flags): Instruction[] => [[JUMP_EQUAL, flags, 0, 1], always(EACCES)]),
    always(ALLOW),
  )
  rule(
    'setsockopt:54:208',
    ...BUFFERS.reduce<Instruction[]>((body, option) => [...body, [JUMP_EQUAL, option, 0, 1], always(EACCES)], [[LOAD, argument(2)]]),
    always(ALLOW),
  )
  // With flags it takes room that no size tells of.
  rule('fallocate:285:47', ...ifEqual(1, [0], ALLOW, EOPNOTSUPP))
  // It ends with its parent, whatever it wants.
  rule('prctl:157:167', ...ifEqual(0, [PR_SET_PDEATHSIG], EACCES, ALLOW))
  rule('ioctl:16:29', ...ifEqual(1, IOCTLS, ALLOW, ENOTTY))
  for (const call of OF_OPEN_FILES) rule(call, always(hasUser ? ALLOW : SILENT))
  // Without a path it is about what is open. An address has two halves.
  const noPath: Instruction[] = [[LOAD, argument(1) + 4], [JUMP_EQUAL, 0, 1, 0], always(EACCES)]
  rule('utimensat:280:88', ...noPath, ...ifEqual(1, [0], hasUser ? ALLOW : SILENT, EACCES))
  if (landlock >= 3) rule(TRUNCATE, always(ALLOW))
  program.push([JUMP_AT_LEAST, UNKNOWN_FROM, 0, 1], always(ENOSYS), always(EACCES))
  return encoded(program)
}
