/** API keys as rows of the control database. */
import { createHash, randomBytes } from 'node:crypto'
import { and, gt, isNull, or } from 'drizzle-orm'
import type { Environment } from '../open.ts'
import { apiKeys } from './tables.ts'

export type KeyRow = typeof apiKeys.$inferSelect

export interface KeyInput {
  storeId: string
  name: string
  environment: Environment
  /** Null: no restriction. */
  scopes: string[] | null
  /** An instant as it goes on the wire; null or none: never. */
  expiresAt?: string | null
}

/** How much of a key is kept to tell it from others. */
const PREFIX_LENGTH = 8

/** The only form in which a whole key is stored. */
export const hashOf = (secret: string) => createHash('sha256').update(secret).digest('hex')
export const prefixOf = (secret: string) => secret.slice(0, PREFIX_LENGTH)

/** A new key as its row and its secret, which is known at no other time. */
export function newKey({ storeId, name, environment, scopes, expiresAt = null }: KeyInput, now: Date): { row: KeyRow; secret: string } {
  const secret = `${environment === 'sandbox' ? 'sk-s-' : 'sk-'}${randomBytes(24).toString('hex')}`
  const row: KeyRow = {
    id: Bun.randomUUIDv7(),
    storeId,
    name,
    environment,
    scopes,
    hash: hashOf(secret),
    createdAt: now.toISOString(),
    revokedAt: null,
    prefix: prefixOf(secret),
    lastUsedAt: null,
    expiresAt,
    replacedBy: null,
  }
  return { row, secret }
}

export const hasExpired = ({ expiresAt }: KeyRow, now: Date) => expiresAt !== null && expiresAt <= now.toISOString()

/** Keys that open something at `now`. */
export const isUsable = (now: string) => and(isNull(apiKeys.revokedAt), or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, now)))
