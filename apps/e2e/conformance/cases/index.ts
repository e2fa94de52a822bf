import { onOtherDialects, onOtherFormats, type ConformanceCase } from '../framework';
import { precedenceCases } from './precedence';
import { featureCases } from './section-1-features';
import { serviceCases } from './section-1-service';
import { headerCases } from './section-11-headers';
import { keyCases } from './section-2-keys';
import { resourceCases } from './section-2-resources';
import { stateCases } from './section-3-states';
import { bodyCases } from './section-4-bodies';
import { chatCases } from './section-4-chat';
import { documentCases } from './section-4-documents';
import { fieldCases } from './section-4-fields';
import { readEndpointCases } from './section-4-read-endpoints';
import { restrictionCases } from './section-5-addresses';
import { authenticationCases } from './section-5-authentication';
import { jsonStreamCases } from './section-6-json-streams';
import { streamingCases } from './section-6-streaming';
import { accessErrorCases } from './section-7-access';
import { limitErrorCases } from './section-7-limits';
import { requestErrorCases } from './section-7-requests';
import { serviceErrorCases } from './section-7-service';
import { elasticHoldCases } from './section-8-elastic-holds';
import { exactnessCases } from './section-8-exactness';
import { limitCases } from './section-8-limits';
import { runCases } from './section-8-runs';
import { versioningCases } from './section-9-versioning';

/** In the order of the specification's sections. */
const cases: readonly ConformanceCase[] = [
  ...serviceCases,
  ...featureCases,
  ...resourceCases,
  ...keyCases,
  ...stateCases,
  ...chatCases,
  ...documentCases,
  ...fieldCases,
  ...bodyCases,
  ...readEndpointCases,
  ...authenticationCases,
  ...restrictionCases,
  ...streamingCases,
  ...jsonStreamCases,
  ...requestErrorCases,
  ...accessErrorCases,
  ...limitErrorCases,
  ...serviceErrorCases,
  ...limitCases,
  ...exactnessCases,
  ...runCases,
  ...elasticHoldCases,
  ...versioningCases,
  ...precedenceCases,
  ...headerCases,
];

/** Cases that have other dialects or formats run again with a model of each, or in each. */
export const allCases: readonly ConformanceCase[] = [
  ...cases,
  ...onOtherDialects(cases),
  ...onOtherFormats(cases),
];
