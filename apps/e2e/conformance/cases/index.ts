import { type ConformanceCase } from '../framework';
import { authenticationCases } from './section-5-authentication';
import { errorCases } from './section-7-errors';
import { versioningCases } from './section-9-versioning';

/** Every case, in the order of the contract's sections. */
export const allCases: readonly ConformanceCase[] = [
  ...authenticationCases,
  ...errorCases,
  ...versioningCases,
];
