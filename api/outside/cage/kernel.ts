/** The kernel, asked by its system calls: on Linux alone. */
import { dlopen, FFIType } from 'bun:ffi'

const { u64, i64, ptr } = FFIType
const LIBRARIES = ['libc.so.6', 'libc.musl-x86_64.so.1', 'libc.musl-aarch64.so.1']
const SIGNATURES = {
  syscall: { args: [u64, u64, u64, u64, u64, u64, u64], returns: i64 },
  __errno_location: { args: [], returns: ptr },
} as const

function open() {
  for (const name of LIBRARIES)
    try {
      return dlopen(name, SIGNATURES).symbols
    } catch {
      /* another system's library */
    }
  throw new Error('there is no C library that is known here')
}

let library: ReturnType<typeof open> | undefined

/** What a system call answers; -1 when it is refused. Numbers are those of `NUMBERS`; missing arguments are 0. */
export function call(number: number, ...args: (number | bigint)[]): number {
  library ??= open()
  const [a = 0n, b = 0n, c = 0n, d = 0n, e = 0n, f = 0n] = args.map((value) => BigInt.asUintN(64, BigInt(value)))
  return Number(library.syscall(BigInt(number), a, b, c, d, e, f))
}

/** The numbers of the calls that a cage is made with, on x64 and arm64. */
const TABLE = {
  clone: [56, 220],
  wait4: [61, 260],
  openat: [257, 56],
  chdir: [80, 49],
  execve: [59, 221],
  prctl: [157, 167],
  capset: [126, 91],
  setgroups: [116, 159],
  setresuid: [117, 147],
  setresgid: [119, 149],
  prlimit64: [302, 261],
  exit_group: [231, 94],
  write: [1, 64],
  landlock_create_ruleset: [444, 444],
  landlock_add_rule: [445, 445],
  landlock_restrict_self: [446, 446],
} as const

/** The same for this machine. */
export const NUMBERS = Object.fromEntries(
  Object.entries(TABLE).map(([name, [x64, arm64]]) => [name, process.arch === 'arm64' ? arm64 : x64]),
) as Record<keyof typeof TABLE, number>

const ASKS_VERSION = 1
let landlock: number | undefined

/** The version of Landlock that this kernel has; 0 without it, and on other systems. */
export function landlockVersion(): number {
  if (process.platform !== 'linux') return 0
  return (landlock ??= Math.max(0, call(NUMBERS.landlock_create_ruleset, 0, 0, ASKS_VERSION)))
}
