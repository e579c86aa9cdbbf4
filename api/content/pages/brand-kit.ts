/** The brand kit (document 3): logo, colours and fonts, for whoever renders something for the store. */
import { media } from '../../../db/store/content.ts'
import { brandKit } from '../../../db/store/pages.ts'
import { eq } from 'drizzle-orm'
import type { Reader } from '../../../db/driver.ts'
import { ownerOf } from '../../http/auth.ts'
import { resource, type Call } from '../../http/route.ts'
import { Body, deleted, Deleted, Named, Nullable, Type, WebUrl, type Static } from '../../http/schema.ts'
import { wrong } from '../../values/refusal.ts'
import { idIn } from '../media/cdn.ts'
import { noteUses } from '../media/usage.ts'
import { contrast } from './contrast.ts'
import { COLORS, readLooks, type Color } from '../../store/mails/looks.ts'

const ID = 'brand-kit'
/** WCAG 2.2, 1.4.3: text on what is behind it. */
const CONTRAST_LEAST = 4.5
/** Which colours are seen on which. */
const PAIRS: readonly [Color, Color][] = [
  ['text', 'background'],
  ['text', 'surface'],
  ['muted', 'background'],
  ['accent', 'background'],
  ['onAccent', 'accent'],
]
const names = Object.keys(COLORS) as Color[]
const HEX = '^#[0-9A-Fa-f]{6}$'
const FONT = '^[A-Za-z0-9][A-Za-z0-9 _-]{0,99}$'

const each = <T>(value: () => T) => Object.fromEntries(names.map((name) => [name, value()])) as Record<Color, T>
const BrandKit = Named('BrandKit', {
  logo: Nullable(Type.String()),
  colors: Type.Object(each(() => Type.String({ examples: ['#0F766E'] }))),
  fonts: Type.Object({ heading: Nullable(Type.String()), body: Nullable(Type.String()) }),
  updatedAt: Nullable(Type.String(), { description: 'Null while nothing was chosen' }),
})
const font = Type.Optional(Nullable(Type.String({ pattern: FONT, description: 'The name of a family, such as `Inter`' })))
const BrandKitInput = Body('BrandKitInput', [{ colors: { accent: '#0F766E' }, fonts: { heading: 'Fraunces', body: 'Inter' } }], {
  logo: Type.Optional(Nullable(WebUrl({ description: "The `url` of an image of the store's media library" }))),
  colors: Type.Optional(
    Type.Object(
      each(() => Type.Optional(Type.String({ pattern: HEX }))),
      { description: 'Those left out are the defaults' },
    ),
  ),
  fonts: Type.Optional(Type.Object({ heading: font, body: font })),
})

/** Refuses colours that nobody can read on each other. */
function requireContrast(colors: Record<Color, string>) {
  for (const [front, back] of PAIRS) {
    const ratio = contrast(colors[front], colors[back])
    if (ratio < CONTRAST_LEAST)
      throw wrong(
        `colors.${front}`,
        `has a contrast of ${(Math.floor(ratio * 10) / 10).toFixed(1)} to 1 on ${back}: at least ${CONTRAST_LEAST} is needed to read it`,
      )
  }
}

/** The logo that a request names: an image of the library. */
async function logoOf(
  db: Reader,
  call: Pick<Call, 'session' | 'services'> & { body: Static<typeof BrandKitInput> },
): Promise<string | null> {
  const { logo } = call.body
  if (!logo) return null
  const owner = ownerOf(call)
  const id = idIn(owner, logo)
  const name = id === null ? '' : logo.slice(call.services.files.urlOf(owner, id).length)
  const isFile = id !== null && logo.startsWith(call.services.files.urlOf(owner, id)) && /^[a-z]+\.(jpg|png|webp|gif)$/.test(name)
  if (!isFile || !(await db.$count(media, eq(media.id, id))))
    throw wrong('logo', 'must be the url of an image of the media library: add it there first')
  return logo
}

export const brandKitRoutes = resource('content', '/brand-kit')
  .get(
    '',
    { operationId: 'getBrandKit', summary: 'Read the brand kit', scope: 'content:read', responses: { 200: BrandKit }, stored: true },
    ({ db }) => readLooks(db),
  )
  .put(
    '',
    {
      operationId: 'putBrandKit',
      summary: 'Replace the brand kit',
      description: 'The whole of it. Colours that are too faint to read on each other (WCAG 2.2, under 4.5 to 1) are refused.',
      scope: 'content:write',
      body: BrandKitInput,
      responses: { 200: BrandKit },
    },
    (call) =>
      call.write(async (tx) => {
        const { body, now } = call
        const colors = Object.fromEntries(Object.entries(body.colors ?? {}).map(([name, hex]) => [name, hex!.toUpperCase()]))
        requireContrast({ ...COLORS, ...colors })
        const fonts = { heading: body.fonts?.heading?.trim() || null, body: body.fonts?.body?.trim() || null }
        const row = { id: ID, logo: await logoOf(tx, call), colors, fonts, updatedAt: now }
        await tx.insert(brandKit).values(row).onConflictDoUpdate({ target: brandKit.id, set: row })
        await noteUses(tx, ownerOf(call), 'brandKit', ID, row.logo)
        return readLooks(tx)
      }),
  )
  .delete(
    '',
    { operationId: 'deleteBrandKit', summary: 'Remove the brand kit', scope: 'content:write', responses: { 200: Deleted } },
    ({ write }) =>
      write(async (tx) => {
        await tx.delete(brandKit)
        return deleted
      }),
  )
