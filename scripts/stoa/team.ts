/** `stoa team …`: the people of a store. */
import { eq } from 'drizzle-orm'
import { Command, Option } from 'commander'
import { isEmail, normalizeEmail } from '../../api/values/email.ts'
import { constraintOf } from '../../db/errors.ts'
import { teamInvitations, teamMembers } from '../../db/store/store.ts'
import { checked, print, requireStore, withLive, withRegistry } from './context.ts'

const ROLES = ['owner', 'admin', 'staff'] as const
const EMAIL = checked((text) => (isEmail(text.trim()) ? null : 'It is no email address.'), normalizeEmail)

interface AddOptions {
  store: string
  email: string
  name?: string
  role: (typeof ROLES)[number]
}

async function add({ store, email, name, role }: AddOptions, command: Command) {
  const member = { id: Bun.randomUUIDv7(), email, name: name?.trim() || null, role, createdAt: new Date().toISOString() }
  await withRegistry(async (registry) => {
    const { id, slug } = await requireStore(registry, store)
    await withLive(registry, id, (live) =>
      live.write(async (tx) => {
        await tx.insert(teamMembers).values(member)
        await tx.delete(teamInvitations).where(eq(teamInvitations.email, email))
      }),
    ).catch((error) => {
      throw constraintOf(error)?.kind === 'unique' ? new Error(`${email} is a member of ${slug} already`) : error
    })
  })
  print(command, { id: member.id, email, role }, `${email} is ${role} now (${member.id})`)
}

/** Adds `team` to the command line. */
export function teamCommands(program: Command) {
  const team = program.command('team').description("a store's people")
  team
    .command('add')
    .description('add a member, without an invitation')
    .requiredOption('--store <id>', 'the store')
    .requiredOption('--email <email>', "the member's address", EMAIL)
    .option('--name <name>', "the member's name")
    .addOption(new Option('--role <role>', 'what the member may do').choices(ROLES).default('staff'))
    .action(add)
}
