/** How a failure in Rust becomes an error here. */

import { SynodError, type Failure } from './base.cjs';
import { classes } from './generated/errors.cjs';

/** What comes before the JSON of a failure in the message of a native error. */
const FAILURE = 'synod:';

/** The error that a program sees in place of a native one. What is not of the cluster stays as it is. */
export function thrown(error: unknown): unknown {
  if (!(error instanceof Error) || !error.message.startsWith(FAILURE)) return error;
  return failed(JSON.parse(error.message.slice(FAILURE.length)) as Failure);
}

/** The error that a failure is. */
export function failed(failure: Failure): SynodError {
  const found = Object.hasOwn(classes, failure.code) ? classes[failure.code] : undefined;
  return new (found ?? SynodError)(failure);
}
