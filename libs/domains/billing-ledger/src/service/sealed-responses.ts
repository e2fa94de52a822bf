import { unreachable } from '@gateway/base';
import type { ClaimIdempotencyKeyResponse } from '@gateway/contracts/billing-ledger';
import type { IdempotentOutcome } from '@gateway/contracts/events';
import { createResponseKey, openResponse, sealResponse } from '@gateway/events';
import type { ClaimOutcome, ClaimRef, SealedResponse } from '../core/idempotency/claim';

/** Responses of older routers are in clear: they are sealed here, so that all are stored alike. */
export function sealedResponseOf(
  owner: ClaimRef,
  { sealedResponse, responseJson, responseEvents }: IdempotentOutcome,
): SealedResponse | undefined {
  if (sealedResponse) return { sealed: sealedResponse };
  if (!responseJson) return undefined;
  const key = createResponseKey();
  return { key, sealed: sealResponse(key, owner, { json: responseJson, events: responseEvents }) };
}

export function renderClaimOutcome(scope: string, outcome: ClaimOutcome): ClaimIdempotencyKeyResponse {
  switch (outcome.kind) {
    case 'claimed':
      return { outcome: { $case: 'claimed', value: { responseKey: Buffer.from(outcome.responseKey) } } };
    case 'in_flight':
      return { outcome: { $case: 'inFlight', value: { generationId: outcome.generationId } } };
    case 'body_mismatch':
      return { outcome: { $case: 'bodyMismatch', value: {} } };
    case 'completed': {
      const { generationId, response } = outcome;
      const { json, events } = openResponse(response.key, { scope, generationId }, response.sealed);
      const value = { generationId, responseJson: json, responseEvents: events };
      return { outcome: { $case: 'completed', value } };
    }
    default:
      return unreachable(outcome);
  }
}
