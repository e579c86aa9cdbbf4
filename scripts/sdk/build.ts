/** Builds the package for programs of this repository, which import it by its name. `npm run sdk` also writes its archive. */
import { buildPackage, PACKAGE } from './pack.ts'

await buildPackage(PACKAGE)
