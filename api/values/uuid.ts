/** Ids as they go on the wire: UUIDs, in any letters. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether a text is a UUID. */
export const isUuid = (value: string) => UUID.test(value)
