/** Column kinds that all tables share. Column name = wire name, so a row needs no serializer. */
import { integer, text } from 'drizzle-orm/sqlite-core'

/** UUID v7 primary key: sorts by creation. */
export const id = () => text().primaryKey()
/** An instant as its wire form, ISO 8601 in UTC with milliseconds; sorts as text. */
export const instant = () => text()
/** A JSON document. */
export const json = <T>() => text({ mode: 'json' }).$type<T>()
/** 0 or 1. */
export const flag = () => integer({ mode: 'boolean' })
/** An amount in minor units of the currency beside it (or of the store's). */
export const minor = () => integer()
