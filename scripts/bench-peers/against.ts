/** What nobody may read out of the figures: what was not measured, and what speaks against the comparison. */

export const NOT_COMPARED = [
  'Checkout: payments, taxes, shipping and stock are different work on each side.',
  'Search by words, which means something else on each side; vendure lists products by its search index as well, and only that is measured.',
  "Writes by a store's team, as of products, prices and stock.",
]

export const AGAINST = [
  'The comparison comes with Stoa. The others run with the settings that they come with, and nobody has tuned them or PostgreSQL: whoever knows them well may get more out of them.',
  'Nothing is written while it is measured. Stoa remembers its answers until the next write to the store, so its lists and products come from memory in those rows: that is its best case. The rows that remember no answers are what Stoa pays for an answer that nobody asked for since that write.',
  "A cart is worked out for each answer, by Stoa as by the others: its prices depend on the time. The two rows of Stoa's cart measure the same, and differ as rounds do.",
  "Vendure works out each of its answers; it remembers sessions, channels, zones, tax rates and the like, but no answers. Medusa's cache of answers stands behind a feature flag that it calls work in progress, and covers lists and products by handle only; its index engine, behind another flag, was not measured. A cache or CDN in front of any of them, which this leaves out, would serve lists and products at the same speed for all.",
  'Medusa is on PostgreSQL, in processes of its own behind TCP, where Stoa and vendure read SQLite inside their own process: less work for short reads on one machine. In turn PostgreSQL serves many servers on many machines, which nothing here makes use of. Stoa on a libSQL server, and vendure on PostgreSQL or MySQL, were not measured.',
  'One server process each. Medusa has PostgreSQL beside it, so it uses more than one core, but where the machine has two it must share them with PostgreSQL and with the load generator, which the others do with the load generator alone. How far each gets with more processes was not measured.',
  'Stoa runs on Bun, the others on Node, as each asks for. A part of the difference is that of the two runtimes and their HTTP servers; the floor shows what Bun allows.',
  "The answers are not the same: each has its own fields and its own size, and Stoa can't be asked for fewer fields, so that the others do less in their rows of few fields.",
  'Vendure and medusa do more for an answer: vendure takes any selection of fields by GraphQL, and chooses by channel, language and tax zone; medusa works out each price by region, price lists and rules. Taxes, which both would work out for each price as well, are left out by a rate of nought or by none.',
  'A small catalog of plain products, without pictures, collections or translations: all of it is in memory, and nothing is said of large ones, nor of a store that sells meanwhile.',
  'With all connections busy all the time, latencies are mostly time in the queue of a server at its limit: where fewer come at once, each of them answers much sooner. The p99 of a slow row stands on few answers.',
  'All servers run from the beginning to the end, and what each does in the background goes on while another is measured.',
  'No TLS, no proxy, no compression, no logs and no limit of requests on any side: Stoa as it comes allows a key 100 requests a second and writes a line for each; everything over the loopback of one machine, with the load generator on the same cores.',
  'Reading is not running a store: the others have plugins, pages for the team and people who know them, none of which can be measured here.',
]
