import { unreachable } from '@gateway/base';
import type { ClaimIdempotencyKeyResponse } from '@gateway/contracts/billing-ledger';
import type { IdempotentOutcome } from '@gateway/contracts/events';
import { createResponseKey, decryptResponse, encryptResponse } from '@gateway/events';
import type { ClaimResult, ClaimRef, EncryptedResponse } from '../core/idempotency/claim';

/** Responses of older routers are in clear: they are encrypted here, so that all are stored alike. */
export function encryptedResponseOf(
  owner: ClaimRef,
  { encryptedResponse, responseJson, responseEvents }: IdempotentOutcome,
): EncryptedResponse | undefined {
  if (encryptedResponse) return { encrypted: encryptedResponse };
  if (!responseJson) return undefined;
  const key = createResponseKey();
  return { key, encrypted: encryptResponse(key, owner, { json: responseJson, events: responseEvents }) };
}

export function renderClaimResult(scope: string, result: ClaimResult): ClaimIdempotencyKeyResponse {
  switch (result.kind) {
    case 'claimed':
      return { outcome: { $case: 'claimed', value: { responseKey: Buffer.from(result.responseKey) } } };
    case 'in_flight':
      return { outcome: { $case: 'inFlight', value: { generationId: result.generationId } } };
    case 'body_mismatch':
      return { outcome: { $case: 'bodyMismatch', value: {} } };
    case 'completed': {
      const { generationId, response } = result;
      const { json, events } = decryptResponse(response.key, { scope, generationId }, response.encrypted);
      const value = { generationId, responseJson: json, responseEvents: events };
      return { outcome: { $case: 'completed', value } };
    }
    default:
      return unreachable(result);
  }
}
