import { GatewayError } from '@gateway/errors';
import { endpoints } from '../../core';
import { type Answerer } from '../http/answer';
import { type Exchange } from '../http/exchange';
import { pathOf } from '../http/query';

/** Each path with its one method. */
const METHODS: ReadonlyMap<string, string> = new Map(endpoints.map(({ path, method }) => [path, method]));

/** Everything that is no route: 404, whatever the key, with a hint where the mistake is a common one. */
export function routeNotFound(answer: Answerer, exchange: Exchange): void {
  answer.error(exchange, routeNotFoundError(pathOf(exchange.request)));
}

export function routeNotFoundError(path: string): GatewayError {
  const hint = hintFor(path);
  const message = hint === undefined ? 'This path does not exist.' : `This path does not exist. ${hint}`;
  return new GatewayError('route_not_found', { message });
}

function hintFor(path: string): string | undefined {
  const known = METHODS.get(path);
  if (known !== undefined) return `Use ${known} ${path}.`;
  if (path === '/v1/responses') return 'Use POST /v1/chat/completions.';
  // Looked up by parts, so that no text of the caller is repeated in the answer.
  const parts = path.toLowerCase().split('/').filter(Boolean);
  const rest = parts.slice(parts.findIndex((part) => part !== 'v1'));
  const meant = `/v1/${rest.join('/')}`;
  if (METHODS.get(meant) === undefined) return undefined;
  if (parts[0] !== 'v1') return `The prefix /v1 is missing: use ${meant}.`;
  if (parts[1] === 'v1') return `The prefix /v1 is doubled: use ${meant}.`;
  return `Paths are matched exactly: use ${meant}.`;
}
