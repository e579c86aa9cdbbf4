/** A thread that does what it is asked for: answers, hangs, throws or ends. */
declare const self: Worker
self.onmessage = ({ data }: MessageEvent<string>) => {
  if (data === 'hang') for (;;);
  if (data === 'throw') throw new Error('on purpose')
  self.postMessage(data)
}

export {}
