/** The errors of builds that are no fault of ours. */
import { Told } from '../../values/refusal.ts'

/** A build that did not succeed for a reason that is told to whoever asked for it. */
export class BuildError extends Told {}
