/** What seeded stores sell, and to whom. */

export interface Department {
  name: string
  /** Its subcategories, each with the things in it: name, least and most price in units of 0.01 of a dollar's size. */
  parts: Record<string, { things: string[]; least: number; most: number }>
  materials: string[]
  /** The names of its options with their values; one-size things leave out what they have no use for. */
  options: Record<string, string[]>
}

export const DEPARTMENTS: Department[] = [
  {
    name: 'Clothing',
    materials: ['Linen', 'Merino', 'Cotton', 'Denim', 'Corduroy', 'Flannel'],
    options: { size: ['XS', 'S', 'M', 'L', 'XL', 'XXL'], colour: ['Ink', 'Sand', 'Moss'] },
    parts: {
      Shirts: { things: ['Shirt', 'Overshirt', 'Polo', 'T-Shirt'], least: 2_490, most: 8_990 },
      Knitwear: { things: ['Sweater', 'Cardigan', 'Turtleneck'], least: 5_990, most: 15_990 },
    },
  },
  {
    name: 'Home',
    materials: ['Oak', 'Stoneware', 'Brass', 'Glass', 'Walnut', 'Wool'],
    options: { colour: ['Natural', 'Charcoal', 'Ivory', 'Rust'] },
    parts: {
      Kitchen: { things: ['Mug', 'Serving Bowl', 'Kettle', 'Cutting Board'], least: 1_490, most: 9_990 },
      Living: { things: ['Table Lamp', 'Throw', 'Vase', 'Side Table'], least: 2_990, most: 24_990 },
    },
  },
  {
    name: 'Outdoor',
    materials: ['Waxed', 'Ripstop', 'Titanium', 'Canvas', 'Aluminium'],
    options: { size: ['S', 'M', 'L'], colour: ['Olive', 'Orange'] },
    parts: {
      Packs: { things: ['Backpack', 'Daypack', 'Dry Bag'], least: 3_990, most: 18_990 },
      Camp: { things: ['Tarp', 'Lantern', 'Camp Stove', 'Flask'], least: 1_990, most: 12_990 },
    },
  },
  {
    name: 'Paper',
    materials: ['Recycled', 'Laid', 'Dotted', 'Cloth-Bound', 'Letterpress'],
    options: { format: ['A6', 'A5', 'A4'] },
    parts: {
      Notebooks: { things: ['Notebook', 'Sketchbook', 'Planner'], least: 990, most: 3_990 },
      Desk: { things: ['Card Set', 'Desk Pad', 'Calendar'], least: 690, most: 4_990 },
    },
  },
]
export const QUALITIES = [
  'Everyday',
  'Heritage',
  'Featherlight',
  'Workshop',
  'Harbour',
  'Alpine',
  'Studio',
  'Fjord',
  'Meadow',
  'Quiet',
  'Classic',
  'Market',
]
export const BRANDS = ['Nordhavn', 'Casa Lumen', 'Field & Ford', 'Kōyō', 'Atelier Brun', 'Przełęcz', 'Stillwater', 'Maison Rive']
export const COLLECTIONS = ['New arrivals', 'Gifts under 50', 'Summer house', 'Made to last', 'Staff picks']
export const TAGS = ['new', 'gift', 'eco', 'handmade', 'bestseller', 'limited', 'outlet']
export const SENTENCES = [
  'Made in small batches from materials that age well.',
  'Checked by hand before it leaves the workshop.',
  'Designed to be repaired, not replaced.',
  'Packed without plastic and ready to give.',
  'Comes with a care card and spare parts.',
  'The version that our own team uses every day.',
]

export const FIRST_NAMES = [
  'Ada',
  'Mateusz',
  'Zoë',
  'Liam',
  'Ingrid',
  'Noor',
  'Hugo',
  'Saoirse',
  'Kenji',
  'Lucía',
  'Øyvind',
  'Amara',
  'Tomáš',
  'Grace',
  'Émile',
  'Priya',
]
export const LAST_NAMES = [
  'Lovelace',
  'Nowak',
  'van Dijk',
  'O’Brien',
  'Lindqvist',
  'Haddad',
  'Moreau',
  'Tanaka',
  'García',
  'Okafor',
  'Novák',
  'Hopper',
  'Dubois',
  'Sharma',
  'Weiß',
  'Rossi',
]
export const PLACES = [
  { city: 'Portland', state: 'OR', postalCode: '97205', country: 'US', street: 'SW Broadway' },
  { city: 'Austin', state: 'TX', postalCode: '78701', country: 'US', street: 'Congress Avenue' },
  { city: 'London', state: null, postalCode: 'E2 7DP', country: 'GB', street: 'Columbia Road' },
  { city: 'Berlin', state: null, postalCode: '10435', country: 'DE', street: 'Kastanienallee' },
  { city: 'Łódź', state: null, postalCode: '90-001', country: 'PL', street: 'Piotrkowska' },
  { city: 'Lyon', state: null, postalCode: '69001', country: 'FR', street: 'Rue de la République' },
  { city: 'Porto', state: null, postalCode: '4000-322', country: 'PT', street: 'Rua das Flores' },
  { city: 'Göteborg', state: null, postalCode: '413 01', country: 'SE', street: 'Linnégatan' },
]
