/** Whether a value is what a JSON schema of the content API says: types, enums, required and no other fields. */
type Json = Record<string, any>

const typeOf = (value: unknown) =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value

/** Where a value differs, as paths with what is wrong there. */
export function differences(value: unknown, schema: Json, schemas: Json, path = ''): string[] {
  if (schema.$ref) return differences(value, schemas[schema.$ref.split('/').at(-1)], schemas, path)
  if (schema.anyOf) {
    const each = schema.anyOf.map((one: Json) => differences(value, one, schemas, path)) as string[][]
    return each.some((wrong) => !wrong.length) ? [] : each.toSorted((a, b) => a.length - b.length)[0]!
  }
  const type = typeOf(value)
  if (schema.type && schema.type !== type && !(schema.type === 'number' && type === 'integer'))
    return [`${path}: ${type} is no ${schema.type}`]
  if (schema.enum && !schema.enum.includes(value)) return [`${path}: ${String(value)} is not one of ${schema.enum}`]
  if (schema.minimum !== undefined && (value as number) < schema.minimum) return [`${path}: ${value} is less than ${schema.minimum}`]
  if (type === 'array') return (value as unknown[]).flatMap((one, i) => differences(one, schema.items, schemas, `${path}/${i}`))
  if (type !== 'object') return []
  const fields = value as Json
  const missing = (schema.required ?? []).filter((name: string) => !(name in fields)).map((name: string) => `${path}/${name}: missing`)
  const unknown = Object.keys(fields)
    .filter((name) => !schema.properties?.[name])
    .map((name) => `${path}/${name}: unknown`)
  const inside = Object.entries(fields).flatMap(([name, one]) =>
    schema.properties?.[name] ? differences(one, schema.properties[name], schemas, `${path}/${name}`) : [],
  )
  return [...missing, ...unknown, ...inside]
}
