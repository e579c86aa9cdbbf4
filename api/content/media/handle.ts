/** Handles of accounts whose pictures make a feed: matched without regard to case, an `@` before them ignored. */
import { normal } from '../../values/compared.ts'

/** The pattern of a handle: no spaces, no slashes. */
export const HANDLE = '^@?[^\\s/@\\u0000-\\u001f\\u007f]+$'

/** A handle as it is shown. */
export const shownHandle = (handle: string) => normal(handle.replace(/^@/, ''))

/** A handle as it is compared. */
export const handleKey = (handle: string) => normal(shownHandle(handle).toLowerCase())
