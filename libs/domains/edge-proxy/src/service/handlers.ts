import { refusalError } from '@gateway/errors';
import { type Endpoint, routeNotFound } from '@gateway/public-api';
import { countMessageTokens, type CountMessageTokensPorts } from './chat/count-message-tokens';
import { handleChatCompletion, type ChatCompletionsPorts } from './chat/handle-chat-completion';
import { listModels, type ListModelsPorts } from './endpoints/list-models';
import { lookUpGeneration, type LookUpGenerationPorts } from './endpoints/look-up-generation';
import { readCredits, type ReadCreditsPorts } from './endpoints/read-credits';
import { readUsage, type ReadUsagePorts } from './endpoints/read-usage';
import type { Cors } from './http/response/cors';
import type { ResponseWriter } from './http/response/response-writer';
import type { Exchange, RouteName } from './http/exchange';
import { pathOf } from './http/request/query';

/** Handles one request of its route. The request server responds to thrown errors. */
export type Handler = (exchange: Exchange) => Promise<void> | void;

/** The ports of each handler. */
export interface HandlerPorts {
  readonly chatCompletions: ChatCompletionsPorts;
  readonly messageTokens: CountMessageTokensPorts;
  readonly models: ListModelsPorts;
  readonly credits: ReadCreditsPorts;
  readonly generation: LookUpGenerationPorts;
  readonly usage: ReadUsagePorts;
  readonly unknown: UnknownRoutePorts;
}

interface UnknownRoutePorts {
  readonly cors: Cors;
  readonly endpoints: readonly Endpoint[];
  readonly writer: ResponseWriter;
}

/** The handler of every route of the public API. */
export function createHandlers(ports: HandlerPorts): Readonly<Record<RouteName, Handler>> {
  return {
    chat_completions: (exchange) => handleChatCompletion(ports.chatCompletions, exchange, 'chat'),
    messages: (exchange) => handleChatCompletion(ports.chatCompletions, exchange, 'messages'),
    responses: (exchange) => handleChatCompletion(ports.chatCompletions, exchange, 'responses'),
    embeddings: (exchange) => handleChatCompletion(ports.chatCompletions, exchange, 'embeddings'),
    message_tokens: (exchange) => countMessageTokens(ports.messageTokens, exchange),
    models: (exchange) => listModels(ports.models, exchange),
    credits: (exchange) => readCredits(ports.credits, exchange),
    generation: (exchange) => lookUpGeneration(ports.generation, exchange),
    usage: (exchange) => readUsage(ports.usage, exchange),
    unknown: (exchange) => handleUnknownRoute(ports.unknown, exchange),
  };
}

/** A CORS preflight is no route and has no key; everything else is `route_not_found`. */
function handleUnknownRoute({ writer, cors, endpoints }: UnknownRoutePorts, exchange: Exchange): void {
  const path = pathOf(exchange.request);
  const preflight = cors.preflight(exchange.request, path);
  if (preflight) writer.empty(exchange, preflight);
  else writer.error(exchange, refusalError(routeNotFound(path, endpoints)));
}
