import { type Refusal, refuse } from '@gateway/errors';
import { endpoints } from '../endpoints';

/** Each path with its one method. */
const METHODS: ReadonlyMap<string, string> = new Map(endpoints.map(({ path, method }) => [path, method]));

/** What is no route is not found, whatever the key; with a hint where the mistake is a common one. */
export function routeNotFound(path: string): Refusal {
  const hint = hintFor(path);
  const message = hint === undefined ? 'This path does not exist.' : `This path does not exist. ${hint}`;
  return refuse('route_not_found', { message });
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

/** GET /v1/generation without an id that could be one. */
export function generationIdMissing(): Refusal {
  return refuse('generation_not_found', {
    message: "Name one generation with the query parameter 'id'.",
    param: 'id',
  });
}

/** No generation of the organization has this id, or it is not settled yet. */
export function generationNotFound(): Refusal {
  return refuse('generation_not_found', { param: 'id' });
}
