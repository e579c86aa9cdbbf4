/** A process that says where it listens and then hangs, or goes on saying that it is there (`SAYS`). */
process.send!({ port: 1 })
if (process.env.SAYS) setInterval(() => process.send!({ alive: true }), 50)
else
  setTimeout(() => {
    for (;;);
  }, 50)
