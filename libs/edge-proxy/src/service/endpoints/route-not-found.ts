import { GatewayError } from '@gateway/errors';
import { type Answerer } from '../http/answer';
import { type Exchange } from '../http/exchange';
import { pathOf } from '../http/query';

/** The public routes: each path with its one method. HEAD works wherever GET does. */
export const ROUTES = {
  '/v1/chat/completions': 'POST',
  '/v1/models': 'GET',
  '/v1/credits': 'GET',
  '/v1/generation': 'GET',
  '/v1/usage': 'GET',
} as const;

/** Everything that is no route: 404, whatever the key, with a hint where the mistake is a common one. */
export function routeNotFound(answer: Answerer, exchange: Exchange): void {
  const hint = hintFor(pathOf(exchange.request));
  const message = hint === undefined ? 'This path does not exist.' : `This path does not exist. ${hint}`;
  answer.error(exchange, new GatewayError('route_not_found', { message }));
}

function hintFor(path: string): string | undefined {
  const known = methodOf(path);
  if (known !== undefined) return `Use ${known} ${path}.`;
  if (path === '/v1/responses') return 'Use POST /v1/chat/completions.';
  // Looked up by parts, so that no text of the caller is repeated in the answer.
  const parts = path.toLowerCase().split('/').filter(Boolean);
  const rest = parts.slice(parts.findIndex((part) => part !== 'v1'));
  const meant = `/v1/${rest.join('/')}`;
  if (methodOf(meant) === undefined) return undefined;
  if (parts[0] !== 'v1') return `The prefix /v1 is missing: use ${meant}.`;
  if (parts[1] === 'v1') return `The prefix /v1 is doubled: use ${meant}.`;
  return `Paths are matched exactly: use ${meant}.`;
}

function methodOf(path: string): string | undefined {
  return Object.hasOwn(ROUTES, path) ? ROUTES[path as keyof typeof ROUTES] : undefined;
}
