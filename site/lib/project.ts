/** What the site says of the project itself: `content/project.json`. An empty field is said nowhere. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type, type Static } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const Project = Type.Object(
  {
    /** What `git clone` takes. */
    repository: Type.String({ maxLength: 500, pattern: '^\\S*$' }),
    /** Its name, such as `MIT`. */
    licence: Type.String({ maxLength: 100 }),
    /** Where security reports go: `mailto:` or `https:`. */
    contact: Type.String({ pattern: '^((mailto:|https://)\\S+)?$' }),
  },
  { additionalProperties: false },
)
export type Project = Static<typeof Project>

const FILE = 'content/project.json'

export function readProject(root: string, problem: (file: string, text: string) => void): Project {
  const none: Project = { repository: '', licence: '', contact: '' }
  const file = join(root, FILE)
  if (!existsSync(file)) return none
  const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
  const [wrong] = Value.Errors(Project, value)
  if (!wrong) return value as Project
  problem(FILE, `${wrong.path}: ${wrong.message.toLowerCase()}`)
  return none
}
