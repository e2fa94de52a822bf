import { refusalError } from '@gateway/errors';
import { routeNotFound } from '@gateway/public-api';
import { countMessageTokens } from './chat/count-message-tokens';
import { handleChatCompletion, type ChatCompletionsPorts } from './chat/handle-chat-completion';
import { listModels, type ListModelsPorts } from './endpoints/list-models';
import { lookUpGeneration, type LookUpGenerationPorts } from './endpoints/look-up-generation';
import { readCredits, type ReadCreditsPorts } from './endpoints/read-credits';
import { readUsage, type ReadUsagePorts } from './endpoints/read-usage';
import type { Cors } from './http/response/cors';
import type { Exchange, RouteName } from './http/exchange';
import { pathOf } from './http/request/query';

/** Handles one request of its route. The request server responds to thrown errors. */
export type Handler = (exchange: Exchange) => Promise<void> | void;

export type HandlerPorts = ChatCompletionsPorts &
  LookUpGenerationPorts &
  ReadCreditsPorts &
  ReadUsagePorts &
  ListModelsPorts & { readonly cors: Cors };

/** The handler of every route of the public API. */
export function createHandlers(ports: HandlerPorts): Readonly<Record<RouteName, Handler>> {
  return {
    chat_completions: (exchange) => handleChatCompletion(ports, exchange, 'chat'),
    messages: (exchange) => handleChatCompletion(ports, exchange, 'messages'),
    responses: (exchange) => handleChatCompletion(ports, exchange, 'responses'),
    embeddings: (exchange) => handleChatCompletion(ports, exchange, 'embeddings'),
    message_tokens: (exchange) => countMessageTokens(ports, exchange),
    models: (exchange) => listModels(ports, exchange),
    credits: (exchange) => readCredits(ports, exchange),
    generation: (exchange) => lookUpGeneration(ports, exchange),
    usage: (exchange) => readUsage(ports, exchange),
    unknown: (exchange) => handleUnknownRoute(ports, exchange),
  };
}

/** A CORS preflight is no route and has no key; everything else is `route_not_found`. */
function handleUnknownRoute({ writer, cors, endpoints }: HandlerPorts, exchange: Exchange): void {
  const path = pathOf(exchange.request);
  const preflight = cors.preflight(exchange.request, path);
  if (preflight) writer.empty(exchange, preflight);
  else writer.error(exchange, refusalError(routeNotFound(path, endpoints)));
}
