import { isRefusal, refusalError } from '@gateway/errors';
import { creditsView } from '@gateway/public-api';
import type { EdgeLedger } from '../admission/reservation';
import type { Authenticator } from '../access/authenticate';
import type { Answerer } from '../http/answer/answer';
import { callMetadata } from '../http/request/call-metadata';
import type { Exchange } from '../http/exchange';

export interface ReadCreditsPorts {
  readonly authenticate: Authenticator;
  readonly answer: Answerer;
  readonly ledger: Pick<EdgeLedger, 'balance'>;
}

/** GET /v1/credits: the balance of the key's organization. */
export async function readCredits(ports: ReadCreditsPorts, exchange: Exchange): Promise<void> {
  const { authenticate, answer, ledger } = ports;
  const grant = await authenticate(exchange, 'usage:read');
  if (isRefusal(grant)) return answer.error(exchange, refusalError(grant));
  const balance = await ledger.balance(grant.organizationId, callMetadata(exchange));
  answer.json(exchange, 200, JSON.stringify(creditsView(balance)));
}
