import { refusalError } from '@gateway/errors';
import { routeNotFound } from '@gateway/public-api';
import { answerChatCompletion, type ChatCompletionsPorts } from './chat/answer-chat-completion';
import { listModels } from './endpoints/list-models';
import { lookUpGeneration, type LookUpGenerationPorts } from './endpoints/look-up-generation';
import { readCredits, type ReadCreditsPorts } from './endpoints/read-credits';
import { readUsage, type ReadUsagePorts } from './endpoints/read-usage';
import type { Cors } from './http/answer/cors';
import type { Exchange, RouteName } from './http/exchange';
import { pathOf } from './http/request/query';

/** Answers one request of its route; what it throws is answered for it. */
export type Handler = (exchange: Exchange) => Promise<void> | void;

export type HandlerPorts = ChatCompletionsPorts &
  LookUpGenerationPorts &
  ReadCreditsPorts &
  ReadUsagePorts & { readonly cors: Cors };

/** Every route of the public API with what answers it. */
export function createHandlers(ports: HandlerPorts): Readonly<Record<RouteName, Handler>> {
  return {
    chat_completions: (exchange) => answerChatCompletion(ports, exchange),
    models: (exchange) => listModels(ports, exchange),
    credits: (exchange) => readCredits(ports, exchange),
    generation: (exchange) => lookUpGeneration(ports, exchange),
    usage: (exchange) => readUsage(ports, exchange),
    unknown: (exchange) => answerUnknown(ports, exchange),
  };
}

/** What is no route may still be a browser that asks whether it may call one; it has no key to show for that. */
function answerUnknown({ answer, cors }: HandlerPorts, exchange: Exchange): void {
  const path = pathOf(exchange.request);
  const preflight = cors.preflight(exchange.request, path);
  if (preflight) answer.empty(exchange, preflight);
  else answer.error(exchange, refusalError(routeNotFound(path)));
}
