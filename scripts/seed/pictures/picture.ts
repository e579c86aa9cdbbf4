/** Pictures of what the demo shop sells, drawn as SVG. */
import { CAMP } from './camp.ts'
import { CLOTHING } from './clothing.ts'
import { DESK } from './desk.ts'
import { KITCHEN } from './kitchen.ts'
import { LIVING } from './living.ts'
import { NOTEBOOKS } from './notebooks.ts'
import { PACKS } from './packs.ts'
import { plain } from './plain.ts'

export interface Look {
  material: string
  colour: string | null
  /** Any whole number: chooses the backdrop and small variations; the same gives the same picture. */
  variation: number
  /** 0 the whole object, 1 a second view for the gallery: closer, from another side or with a companion object. */
  view: 0 | 1
}

const PICTURES: Record<string, (look: Look) => string> = { ...CLOTHING, ...KITCHEN, ...LIVING, ...PACKS, ...CAMP, ...NOTEBOOKS, ...DESK }

/** The picture of a thing as SVG, 1200 by 1500; a plain still life for a thing that it doesn't know. */
export function pictureOf(thing: string, look: Look): string {
  return (PICTURES[thing] ?? plain)(look)
}
