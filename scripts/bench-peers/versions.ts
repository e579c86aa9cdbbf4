/** The peers and what they need, in exact versions: the one place that says them. */

/** Packages of a peer: what is installed, and what is held back among the packages that those want. */
export interface Packages {
  install: Record<string, string>
  hold: Record<string, string>
}

export const VENDURE: Packages = {
  // better-sqlite3 13 wants a newer Node than the project does.
  install: { '@vendure/core': '3.7.3', 'better-sqlite3': '12.11.1' },
  // Later ones want versions of other packages that not every mirror of the registry has.
  hold: { '@graphql-tools/delegate': '12.2.1' },
}

export const MEDUSA: Packages = {
  install: {
    '@medusajs/medusa': '2.21.2',
    '@medusajs/framework': '2.21.2',
    '@medusajs/cli': '2.21.2',
    '@swc/core': '1.7.28',
    typescript: '5.9.3',
  },
  hold: {},
}
