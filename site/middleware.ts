/** Says to whoever builds the site which page is next: those before it are written. */
import type { MiddlewareHandler } from 'astro'

export const onRequest: MiddlewareHandler = ({ isPrerendered, url }, next) => {
  if (isPrerendered) process.send?.(url.pathname)
  return next()
}
