import { defineConfig } from 'drizzle-kit'
export default defineConfig({ dialect: 'sqlite', schema: './db/control/tables.ts', out: './db/migrations/control', casing: 'snake_case' })
