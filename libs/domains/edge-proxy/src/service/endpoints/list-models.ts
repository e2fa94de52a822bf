import { isRefusal, refusalError, refuse } from '@gateway/errors';
import { type Endpoint, modelListView } from '@gateway/public-api';
import type { ModelCatalogue } from '../../core';
import type { Authenticator } from '../access/authenticate';
import type { ResponseWriter } from '../http/response/response-writer';
import type { Exchange } from '../http/exchange';
import { isGeneration } from '../http/generation-format';

export interface ListModelsPorts {
  readonly authenticate: Authenticator;
  readonly writer: ResponseWriter;
  readonly catalogue: ModelCatalogue;
  /** The endpoints of the deployment. */
  readonly endpoints: readonly Endpoint[];
}

/** GET /v1/models: the enabled models that the key may call. */
export async function listModels(ports: ListModelsPorts, exchange: Exchange): Promise<void> {
  const { authenticate, writer, catalogue, endpoints } = ports;
  const grant = await authenticate(exchange);
  if (isRefusal(grant)) return writer.error(exchange, refusalError(grant));
  // Without a catalogue, an empty list would be wrong.
  if (!catalogue.isReady()) return writer.error(exchange, refusalError(refuse('no_capacity')));
  writer.json(
    exchange,
    200,
    JSON.stringify(modelListView(catalogue.all(), grant, generationPaths(endpoints))),
  );
}

function generationPaths(endpoints: readonly Endpoint[]): readonly string[] {
  return endpoints.filter(({ name }) => isGeneration(name)).map(({ path }) => path);
}
