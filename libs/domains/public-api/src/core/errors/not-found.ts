import { type Refusal, refuse } from '@gateway/errors';
import { type Endpoint, endpointsOf } from '../endpoints';

/** Endpoints that clients call, with the replacement, unless the deployment serves them. */
const INSTEAD: readonly (readonly [pattern: RegExp, hint: string, served?: string])[] = [
  [
    /^\/v1\/responses(?:\/|$)/,
    'The Responses API is not supported. Use POST /v1/chat/completions.',
    '/v1/responses',
  ],
  [
    /^\/v1\/messages(?:\/|$)/,
    'The Messages API is not supported. Use POST /v1/chat/completions.',
    '/v1/messages',
  ],
  [/^\/v1\/completions$/, 'Text completions are not supported. Use POST /v1/chat/completions.'],
  [
    /^\/v1\/embeddings$/,
    'Embeddings are not supported. GET /v1/models lists the available chat models.',
    '/v1/embeddings',
  ],
  [/^\/v1\/models\/./, 'Retrieving a single model is not supported. Find it by its id in GET /v1/models.'],
];

/**
 * The error of an unknown route, with a hint for common mistakes. Independent of the key.
 *
 * @param endpoints of the deployment; by default those that are always served.
 */
export function routeNotFound(path: string, endpoints: readonly Endpoint[] = endpointsOf(['chat'])): Refusal {
  const hint = hintFor(path, new Map(endpoints.map(({ path: known, method }) => [known, method])));
  const message = hint === undefined ? 'This path does not exist.' : `This path does not exist. ${hint}`;
  return refuse('route_not_found', { message });
}

function hintFor(path: string, methods: ReadonlyMap<string, string>): string | undefined {
  const known = methods.get(path);
  if (known !== undefined) return `Use ${known} ${path}.`;
  const instead = INSTEAD.find(([pattern, , served]) => pattern.test(path) && !methods.has(served ?? ''));
  if (instead) return instead[1];
  // The hint is one of our own paths, so that the response repeats no client text.
  const parts = path.toLowerCase().split('/').filter(Boolean);
  const rest = parts.slice(parts.findIndex((part) => part !== 'v1'));
  const meant = `/v1/${rest.join('/')}`;
  if (methods.get(meant) === undefined) return undefined;
  if (parts[0] !== 'v1') return `The prefix /v1 is missing: use ${meant}.`;
  if (parts[1] === 'v1') return `The prefix /v1 is doubled: use ${meant}.`;
  return `Paths are matched exactly: use ${meant}.`;
}

/** GET /v1/generation without a usable id. */
export function generationIdMissing(): Refusal {
  return refuse('generation_not_found', {
    message: "Pass one generation id in the query parameter 'id'.",
    param: 'id',
  });
}

/** No generation of the organization has this id, it is not settled yet, or its request was refused. */
export function generationNotFound(): Refusal {
  return refuse('generation_not_found', { param: 'id' });
}
