/** The table of scopes: what each is for, and which operations of the store API it opens. */
import { SCOPES, type Scope } from '../../db/control/scopes.ts'
import type { Json } from '../../api/openapi/schemas.ts'

const GRANTS: Record<Scope, string> = {
  'storefront:read': 'read the public catalog and content',
  'storefront:write': "visitors' submissions: contact form, newsletter sign-up, reviews, comments, wishlists; guests of tickets",
  'cart:write': 'create and modify carts',
  'order:lookup': 'read a single order by id, without personal data',
  'catalog:write':
    'create and edit products, variants, categories, collections, brands, bundles, translations, booking slots; read and change inventory',
  'content:read': 'read review queue, comment queue, media library, socials, brand kit',
  'content:write': 'edit posts, blog categories, legal pages, media, brand kit, socials; moderate reviews and comments',
  'orders:read': 'list and read orders, refunds, shipments, bookings, workstations',
  'orders:write': 'update orders, issue refunds, create shipments, answer bookings, manage workstations',
  'customers:read': 'list and read customers and their orders',
  'customers:write': 'edit customers, addresses and wishlists',
  'marketing:read': 'read coupons, promotions, newsletters, subscribers, loyalty',
  'marketing:write': 'manage coupons, promotions, loyalty, send newsletters',
  'messages:read': 'read inbox and support cases',
  'messages:write': 'reply to customers, manage support cases',
  'events:read': 'read events, attendees, check-ins',
  'events:write': 'manage events, tickets, check-ins',
  'analytics:read': 'read sales and overview analytics',
  'settings:read': 'read store settings, tax rates, shipping methods, connected addons, email templates',
  'settings:write': 'change store settings, tax rates, shipping methods, addon configuration, email templates',
  'team:read': 'list team members and invitations',
  'team:write': 'invite members, change roles, transfer ownership',
  'store:admin': 'manage keys and webhooks, read the audit log, manage domain and feedback, publish store',
  'ai:write': 'generate images, spending store credits',
}

interface Operation {
  method: string
  path: string
  /** `/orders` of `/orders/{id}/refunds`. */
  root: string
  scopes: readonly string[]
}

const operationsOf = (document: Json): Operation[] =>
  Object.entries(document.paths as Record<string, Json>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      root: `/${path.split('/')[1]}`,
      scopes: ((operation as Json)['x-scopes'] ?? []) as string[],
    })),
  )

const isRead = ({ method }: Operation) => method === 'GET'
const listed = (texts: readonly string[]) => texts.map((text) => `\`${text}\``).join(', ')

/** What a scope opens, in words: whole rooms of the API by their root, of others the single operations. */
function opens(all: readonly Operation[], scope: Scope): string {
  const [reads, changes, single]: [string[], string[], string[]] = [[], [], []]
  const own = all.filter(({ scopes }) => scopes.includes(scope))
  for (const [root, opened] of Map.groupBy(own, (operation) => operation.root)) {
    const room = all.filter((operation) => operation.root === root && operation.scopes.length)
    for (const [kind, names] of [
      [isRead, reads],
      [(operation: Operation) => !isRead(operation), changes],
    ] as const) {
      const [here, there] = [opened.filter(kind), room.filter(kind)]
      if (here.length === there.length && here.length) names.push(root)
      else single.push(...here.map(({ method, path }) => `${method} ${path}`))
    }
  }
  return [
    reads.length ? `\`GET\` under ${listed(reads)}` : '',
    changes.length ? `changes under ${listed(changes)}` : '',
    single.length ? listed(single) : '',
  ]
    .filter(Boolean)
    .join('; ')
}

/** The table; of a scope that opens nothing yet, it says so. */
export function scopesTable(document: Json): string {
  const all = operationsOf(document)
  const rows = SCOPES.map((scope) => `| \`${scope}\` | ${GRANTS[scope]} | ${opens(all, scope) || 'nothing yet'} |`)
  return ['| Scope | Grants | Opens today |', '|---|---|---|', ...rows].join('\n')
}
