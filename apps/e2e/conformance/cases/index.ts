import { type ConformanceCase } from '../framework';
import { precedenceCases } from './precedence';
import { serviceCases } from './section-1-service';
import { resourceCases } from './section-2-resources';
import { stateCases } from './section-3-states';
import { chatCases } from './section-4-chat';
import { readEndpointCases } from './section-4-read-endpoints';
import { authenticationCases } from './section-5-authentication';
import { streamingCases } from './section-6-streaming';
import { errorCases } from './section-7-errors';
import { limitCases } from './section-8-limits';
import { versioningCases } from './section-9-versioning';

/** Every case, in the order of the contract's sections. */
export const allCases: readonly ConformanceCase[] = [
  ...serviceCases,
  ...resourceCases,
  ...stateCases,
  ...chatCases,
  ...readEndpointCases,
  ...authenticationCases,
  ...streamingCases,
  ...errorCases,
  ...limitCases,
  ...versioningCases,
  ...precedenceCases,
];
