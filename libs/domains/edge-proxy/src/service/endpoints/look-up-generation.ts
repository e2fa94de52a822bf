import { isRefusal, refusalError } from '@gateway/errors';
import {
  generationIdMissing,
  generationNotFound,
  generationView,
  MAX_GENERATION_ID_LENGTH,
} from '@gateway/public-api';
import type { Authenticator } from '../access/authenticate';
import type { ResponseWriter } from '../http/response/response-writer';
import { callMetadata } from '../http/request/call-metadata';
import type { Exchange } from '../http/exchange';
import { queryOf } from '../http/request/query';
import type { SettledGenerations } from '../../core';

export interface LookUpGenerationPorts {
  readonly authenticate: Authenticator;
  readonly writer: ResponseWriter;
  readonly settledGenerations: SettledGenerations;
}

/** GET /v1/generation?id=: one settled generation of the key's organization. */
export async function lookUpGeneration(ports: LookUpGenerationPorts, exchange: Exchange): Promise<void> {
  const { authenticate, writer, settledGenerations } = ports;
  const grant = await authenticate(exchange, 'usage:read');
  if (isRefusal(grant)) return writer.error(exchange, refusalError(grant));

  const { id } = queryOf(exchange.request);
  if (typeof id !== 'string' || id === '' || id.length > MAX_GENERATION_ID_LENGTH) {
    return writer.error(exchange, refusalError(generationIdMissing()));
  }
  const generation = await settledGenerations.find(grant.organizationId, id, callMetadata(exchange));
  if (!generation) return writer.error(exchange, refusalError(generationNotFound()));
  exchange.report.generationId = generation.id;
  writer.json(exchange, 200, JSON.stringify(generationView(generation)));
}
