/**
 * `npm run migrations -- NAME`: writes the migrations that the tables in `db/` need. drizzle-kit knows no STRICT tables, so that
 * is added here: without it an INTEGER column stores 10.5. It compares with the newest snapshot alone, so older ones go.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

const name = process.argv[2]
if (!name) {
  console.error('usage: npm run migrations -- NAME')
  process.exit(2)
}
for (const kind of ['control', 'store']) {
  const result = Bun.spawnSync(['drizzle-kit', 'generate', '--config', `db/drizzle.${kind}.config.ts`, '--name', name], {
    stdout: 'inherit',
    stderr: 'inherit',
    env: { ...process.env, PATH: `${process.cwd()}/node_modules/.bin:${process.env.PATH}` },
  })
  if (result.exitCode !== 0) process.exit(result.exitCode)
  const folder = `db/migrations/${kind}`
  for (const file of readdirSync(folder).filter((entry) => entry.endsWith('.sql'))) {
    const text = readFileSync(`${folder}/${file}`, 'utf8')
    const strict = text.replace(/(CREATE TABLE [^;]*\n\))(?= *;)/g, '$1 STRICT')
    if (strict !== text) writeFileSync(`${folder}/${file}`, strict)
  }
  const snapshots = readdirSync(`${folder}/meta`).filter((file) => file.endsWith('_snapshot.json'))
  for (const file of snapshots.sort().slice(0, -1)) rmSync(`${folder}/meta/${file}`)
}
