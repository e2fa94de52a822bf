import { isRefusal, refusalError } from '@gateway/errors';
import { creditsView } from '@gateway/public-api';
import type { Ledger } from '../../core';
import type { Authenticator } from '../access/authenticate';
import type { ResponseWriter } from '../http/response/response-writer';
import { callMetadata } from '../http/request/call-metadata';
import type { Exchange } from '../http/exchange';

export interface ReadCreditsPorts {
  readonly authenticate: Authenticator;
  readonly writer: ResponseWriter;
  readonly ledger: Pick<Ledger, 'balance'>;
}

/** GET /v1/credits: the balance of the key's organization. */
export async function readCredits(ports: ReadCreditsPorts, exchange: Exchange): Promise<void> {
  const { authenticate, writer, ledger } = ports;
  const grant = await authenticate(exchange, 'usage:read');
  if (isRefusal(grant)) return writer.error(exchange, refusalError(grant));
  const balance = await ledger.balance(grant.organizationId, callMetadata(exchange));
  writer.json(exchange, 200, JSON.stringify(creditsView(balance)));
}
