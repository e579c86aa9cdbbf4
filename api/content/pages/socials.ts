/** Social links (document 3): the profiles of a store, one by network. */
import { socialLinks } from '../../../db/store/pages.ts'
import type { Reader } from '../../../db/driver.ts'
import { resource } from '../../http/route.ts'
import { Body, deleted, Deleted, Named, Nullable, Type, WebUrl } from '../../http/schema.ts'
import { wrong } from '../../values/refusal.ts'

/** The hosts that profiles of each network are at; any host below one counts. */
const NETWORKS = {
  bluesky: ['bsky.app', 'bsky.social'],
  discord: ['discord.gg', 'discord.com'],
  facebook: ['facebook.com', 'fb.com', 'fb.me'],
  github: ['github.com'],
  instagram: ['instagram.com'],
  linkedin: ['linkedin.com'],
  mastodon: null,
  pinterest: null,
  reddit: ['reddit.com'],
  snapchat: ['snapchat.com'],
  telegram: ['t.me', 'telegram.me'],
  threads: ['threads.net', 'threads.com'],
  tiktok: ['tiktok.com'],
  tumblr: ['tumblr.com'],
  twitch: ['twitch.tv'],
  vimeo: ['vimeo.com'],
  whatsapp: ['wa.me', 'whatsapp.com'],
  x: ['x.com', 'twitter.com'],
  youtube: ['youtube.com', 'youtu.be'],
} as const satisfies Record<string, readonly string[] | null>
type Network = keyof typeof NETWORKS
const networks = Object.keys(NETWORKS) as Network[]

const each = <T>(value: () => T) => Object.fromEntries(networks.map((network) => [network, value()])) as Record<Network, T>
const Socials = Named(
  'Socials',
  each(() => Nullable(Type.String())),
)
const SocialsInput = Body(
  'SocialsInput',
  [{ instagram: 'https://www.instagram.com/ateliernord', youtube: 'https://www.youtube.com/@ateliernord' }],
  each(() => Type.Optional(Nullable(WebUrl()))),
)

async function read(db: Reader) {
  const known = new Map((await db.select().from(socialLinks)).map(({ network, url }) => [network, url]))
  return Object.fromEntries(networks.map((network) => [network, known.get(network) ?? null])) as Record<Network, string | null>
}

/** Refuses an address that is not one of the network's. */
function requireHost(network: Network, url: string) {
  const { hostname, protocol, username, password } = new URL(url)
  const hosts: readonly string[] | null = NETWORKS[network]
  if (protocol !== 'https:' || username || password) throw wrong(network, 'must be an https address')
  if (hosts && !hosts.some((host) => hostname === host || hostname.endsWith(`.${host}`)))
    throw wrong(network, `must be an address at ${hosts.join(' or ')}`)
}

export const socialRoutes = resource('content', '/socials')
  .get(
    '',
    { operationId: 'getSocials', summary: 'Read the social links', scope: 'content:read', responses: { 200: Socials }, stored: true },
    ({ db }) => read(db),
  )
  .put(
    '',
    {
      operationId: 'putSocials',
      summary: 'Replace the social links',
      description: 'All of them: what is left out, or null, is gone.',
      scope: 'content:write',
      body: SocialsInput,
      responses: { 200: Socials },
    },
    ({ body, write }) =>
      write(async (tx) => {
        const links = networks.flatMap((network) => (body[network] ? [{ network, url: body[network] }] : []))
        for (const { network, url } of links) requireHost(network, url)
        await tx.delete(socialLinks)
        if (links.length) await tx.insert(socialLinks).values(links)
        return read(tx)
      }),
  )
  .delete(
    '',
    { operationId: 'deleteSocials', summary: 'Remove the social links', scope: 'content:write', responses: { 200: Deleted } },
    ({ write }) =>
      write(async (tx) => {
        await tx.delete(socialLinks)
        return deleted
      }),
  )
