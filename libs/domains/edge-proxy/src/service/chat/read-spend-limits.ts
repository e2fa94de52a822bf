import type { Refusal } from '@gateway/errors';
import { parseSpendLimits, SPEND_LIMIT_HEADERS, type SpendLimits } from '@gateway/public-api';
import type { Exchange } from '../http/exchange';

const NONE: SpendLimits = {};

/** Few requests have such headers, and `headersDistinct` copies all of them. */
export function readSpendLimits({ request }: Exchange): SpendLimits | Refusal {
  const isLimited = SPEND_LIMIT_HEADERS.some((name) => request.headers[name] !== undefined);
  return isLimited ? parseSpendLimits(request.headersDistinct) : NONE;
}
