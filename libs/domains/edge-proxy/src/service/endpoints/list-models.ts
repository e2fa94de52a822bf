import { isRefusal, refusalError, refuse } from '@gateway/errors';
import { type ListedModel, modelListView } from '@gateway/public-api';
import type { ModelCatalogue } from '../../core';
import type { Authenticator } from '../access/authenticate';
import type { Answerer } from '../http/answer/answer';
import type { Exchange } from '../http/exchange';

export interface ListModelsPorts {
  readonly authenticate: Authenticator;
  readonly answer: Answerer;
  readonly catalogue: ModelCatalogue<ListedModel>;
}

/** GET /v1/models: the enabled models that the key may call. */
export async function listModels(ports: ListModelsPorts, exchange: Exchange): Promise<void> {
  const { authenticate, answer, catalogue } = ports;
  const grant = await authenticate(exchange);
  if (isRefusal(grant)) return answer.error(exchange, refusalError(grant));
  // An empty list would say that there are no models.
  if (!catalogue.isReady()) return answer.error(exchange, refusalError(refuse('no_capacity')));
  answer.json(exchange, 200, JSON.stringify(modelListView(catalogue.all(), grant.allowedModels)));
}
