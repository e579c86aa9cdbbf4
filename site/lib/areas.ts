/** The areas of the site: folders of `content/`, beginnings of paths. */
export const AREAS = { docs: 'Documentation', help: 'How-to', blog: 'Blog', changelog: 'Changelog' } as const
export type Area = keyof typeof AREAS

/** What the parts of the site are called where something was found in them. */
export const PLACES: Readonly<Record<string, string>> = { ...AREAS, pricing: 'Pricing' }
