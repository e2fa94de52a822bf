import { nanoUsd } from '@gateway/base';
import { type BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { isRefusal, refusalError, unavailableAsNoCapacity } from '@gateway/errors';
import { isRpcWithoutResponse, type RpcClient } from '@gateway/rpc';
import { creditsView } from '@gateway/public-api';
import { type Authenticator } from '../access/authenticate';
import { type Answerer } from '../http/answer/answer';
import { callMetadata } from '../http/request/call-metadata';
import { type Exchange } from '../http/exchange';
import { limits } from '../settings';

export interface ReadCreditsPorts {
  readonly authenticate: Authenticator;
  readonly answer: Answerer;
  readonly billingLedger: RpcClient<typeof BillingLedgerDefinition>;
}

/** GET /v1/credits: the balance of the key's organization. */
export async function readCredits(ports: ReadCreditsPorts, exchange: Exchange): Promise<void> {
  const { authenticate, answer, billingLedger } = ports;
  const grant = await authenticate(exchange, 'usage:read');
  if (isRefusal(grant)) return answer.error(exchange, refusalError(grant));
  const { organizationId } = grant;
  const balance = await unavailableAsNoCapacity(
    billingLedger.getBalance(
      { organizationId },
      { timeoutMs: limits.calls.readMs, metadata: callMetadata(exchange) },
    ),
    isRpcWithoutResponse,
  );
  const view = creditsView({
    totalCredits: nanoUsd(balance.totalCreditsNanoUsd),
    totalUsage: nanoUsd(balance.totalUsageNanoUsd),
    reserved: nanoUsd(balance.heldNanoUsd),
  });
  answer.json(exchange, 200, JSON.stringify(view));
}
