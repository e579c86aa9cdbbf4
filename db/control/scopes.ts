/** The scopes that a key may be limited to (document 1, Authentication). */

/** All scopes, in the order of the document. */
export const SCOPES = [
  'storefront:read',
  'storefront:write',
  'cart:write',
  'order:lookup',
  'catalog:write',
  'content:read',
  'content:write',
  'orders:read',
  'orders:write',
  'customers:read',
  'customers:write',
  'marketing:read',
  'marketing:write',
  'messages:read',
  'messages:write',
  'events:read',
  'events:write',
  'analytics:read',
  'settings:read',
  'settings:write',
  'team:read',
  'team:write',
  'store:admin',
  'ai:write',
] as const

export type Scope = (typeof SCOPES)[number]

export const isScope = (text: string): text is Scope => (SCOPES as readonly string[]).includes(text)
