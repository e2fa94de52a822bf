import { isRefusal, refusalError } from '@gateway/errors';
import { countDocuments, estimateInputTokens } from '@gateway/public-api';
import type { Exchange } from '../http/exchange';
import type { ResponseWriter } from '../http/response/response-writer';
import { checkUncounted, type CheckBodyPorts } from './check-body';
import { receiveBody, type ReceiveBodyPorts } from './handle-chat-completion';

export interface CountMessageTokensPorts {
  readonly receiving: ReceiveBodyPorts;
  readonly checking: CheckBodyPorts;
  readonly writer: ResponseWriter;
}

/** POST /v1/messages/count_tokens: the count that a request would be admitted with. It reserves and costs nothing. */
export async function countMessageTokens(
  { receiving, checking, writer }: CountMessageTokensPorts,
  exchange: Exchange,
): Promise<void> {
  const received = await receiveBody(receiving, exchange, async (grant, chunks) => {
    const options = { format: 'messages', wantsSha256: false } as const;
    const uncounted = await checkUncounted(checking, exchange, grant, chunks, options);
    if (isRefusal(uncounted)) return uncounted;
    const { request: checked } = uncounted.checked;
    const model = uncounted.findModel(checked.modelId);
    if (!model)
      throw new Error('the model is missing from the catalogue that the request was checked against');
    const { tokenCounter, pageCounter } = checking;
    const caller = { owner: grant.organizationId, signal: exchange.signal };
    const request = await countDocuments(checked, model, pageCounter, caller);
    if (isRefusal(request)) return request;
    return { tokens: await estimateInputTokens(request.input, model, tokenCounter, caller) };
  });
  if (isRefusal(received)) return writer.error(exchange, refusalError(received));
  receiving.abuseLimiter.countFreeRequest(received.grant, received.bytes);
  writer.json(exchange, 200, JSON.stringify({ input_tokens: received.body.tokens }));
}
