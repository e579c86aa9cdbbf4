/* Begins a confined program in namespaces of its own (become.ts). Between the fork and the program there is one thread and no collector:
   nothing but system calls may happen there, in an order that was written down before. Compiled when it is needed, by Bun's own compiler. */
long syscall(long number, ...);

struct step {
  long number;
  long arguments[6];
  int *keep;        /* where the answer goes; 0: nowhere */
  long is_optional; /* goes on though it was refused */
  const char *what; /* said when it was refused */
  long length;
};

/* The number of the new process, or -1: it could not be made. */
long begin(long clone_call, long flags, long write_call, long exit_call, struct step *steps, long count)
{
  long child = syscall(clone_call, flags, 0L, 0L, 0L, 0L);
  if (child != 0) return child;
  for (long at = 0; at < count; at++) {
    struct step *step = steps + at;
    long *a = step->arguments;
    long answer = syscall(step->number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (step->keep) *step->keep = (int)answer;
    if (answer >= 0 || step->is_optional) continue;
    syscall(write_call, 2L, step->what, step->length);
    syscall(exit_call, 1L);
  }
  syscall(exit_call, 1L);
  return -1;
}
