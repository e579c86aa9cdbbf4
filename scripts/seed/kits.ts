/** Brand kits of demo shops: three that look like three different shops. */

interface Kit {
  colors: Record<'background' | 'surface' | 'text' | 'muted' | 'accent' | 'onAccent', string>
  fonts: { heading: string; body: string }
}

export const KITS = {
  harbour: {
    colors: { background: '#FBF8F3', surface: '#F1EBE1', text: '#211C17', muted: '#655B4F', accent: '#A13D1E', onAccent: '#FFFFFF' },
    fonts: { heading: 'Fraunces', body: 'Instrument Sans' },
  },
  field: {
    colors: { background: '#10231C', surface: '#18312A', text: '#F2EFE4', muted: '#B4C2B6', accent: '#F0C04A', onAccent: '#10231C' },
    fonts: { heading: 'Bricolage Grotesque', body: 'Inter' },
  },
  studio: {
    colors: { background: '#FFFFFF', surface: '#F2F3F7', text: '#0B0C10', muted: '#555B6B', accent: '#2334E0', onAccent: '#FFFFFF' },
    fonts: { heading: 'Space Grotesk', body: 'Instrument Sans' },
  },
} as const satisfies Record<string, Kit>

export type KitName = keyof typeof KITS
