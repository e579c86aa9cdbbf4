/** The package itself: its sources compiled, and the archive that npm installs from. */
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { create } from 'tar'
import ts from 'typescript'
import { version } from '../../package.json'
import { documentOf, modelsSource, resourcesSource, schemaSource } from './generate.ts'
import { dependencies } from './package.json'

const HERE = new URL('.', import.meta.url).pathname
/** Where the package is built: `import 'stoa-sdk'` leads there in this repository. */
export const PACKAGE = join(HERE, 'package')
/** The archive of a release: once published it never changes, since lock files name its bytes. */
export const archiveOf = (release: string) => resolve(HERE, `../../site/public/sdk/stoa-sdk-${release}.tgz`)

/** What `package.json` of the archive says. */
const manifest = () => ({
  name: 'stoa-sdk',
  version,
  description: 'The store API of Stoa for TypeScript and JavaScript',
  license: 'UNLICENSED',
  type: 'module',
  sideEffects: false,
  engines: { node: '>=20' },
  exports: { '.': { types: './dist/main.d.ts', default: './dist/main.js' } },
  files: ['dist'],
  dependencies,
})

/** Compiles the sources in a folder; throws with what the compiler says. */
function compile(from: string, to: string) {
  const files = readdirSync(from).map((name) => join(from, name))
  const program = ts.createProgram(files, {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: [],
    allowImportingTsExtensions: true,
    rewriteRelativeImportExtensions: true,
    strict: true,
    exactOptionalPropertyTypes: false,
    declaration: true,
    removeComments: false,
    outDir: to,
    rootDir: from,
  })
  // The compiler rewrites the names of files in what is run, and leaves them in types.
  const write: ts.WriteFileCallback = (file, text) =>
    ts.sys.writeFile(file, file.endsWith('.d.ts') ? text.replace(/(from '\.\/\w+)\.ts'/g, "$1.js'") : text)
  const problems = [...ts.getPreEmitDiagnostics(program), ...program.emit(undefined, write).diagnostics]
  if (problems.length)
    throw new Error(
      ts.formatDiagnostics(problems, { getCanonicalFileName: (name) => name, getCurrentDirectory: () => from, getNewLine: () => '\n' }),
    )
}

/** Builds the package into a folder, which is there when it is whole. */
export async function buildPackage(target: string): Promise<void> {
  const folder = `${target}.new`
  rmSync(folder, { recursive: true, force: true })
  const sources = join(folder, 'src')
  mkdirSync(sources, { recursive: true })
  cpSync(join(HERE, 'src'), sources, { recursive: true })
  const document = documentOf(version)
  writeFileSync(join(sources, 'schema.ts'), await schemaSource(document))
  writeFileSync(join(sources, 'models.ts'), modelsSource(document))
  writeFileSync(join(sources, 'resources.ts'), resourcesSource())
  compile(sources, join(folder, 'dist'))
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
  cpSync(join(HERE, 'README.md'), join(folder, 'README.md'))
  rmSync(target, { recursive: true, force: true })
  renameSync(folder, target)
}

/** The names of the files of the archive, in their order. */
const packed = (folder: string): string[] => [
  'package.json',
  'README.md',
  ...readdirSync(join(folder, 'dist'))
    .toSorted()
    .map((name) => `dist/${name}`),
]

/** Writes the archive of a package that is built: the same bytes for the same files. */
async function pack(folder: string, file: string): Promise<void> {
  mkdirSync(join(file, '..'), { recursive: true })
  const options = { cwd: folder, prefix: 'package', portable: true, mtime: new Date('1985-10-26T08:15:00Z') }
  await create({ ...options, file, gzip: { level: 9 } }, packed(folder))
}

if (import.meta.main) {
  await buildPackage(PACKAGE)
  await pack(PACKAGE, archiveOf(version))
  console.log(`${archiveOf(version)}: ${Math.round(readFileSync(archiveOf(version)).length / 1024)} KiB`)
}
