import { defineConfig } from 'drizzle-kit'
export default defineConfig({ dialect: 'sqlite', schema: './db/store/*.ts', out: './db/migrations/store', casing: 'snake_case' })
