import { type Refusal, refuse } from '@gateway/errors';
import { endpoints } from '../endpoints';

/** Each path with its one method. */
const METHODS: ReadonlyMap<string, string> = new Map(endpoints.map(({ path, method }) => [path, method]));

/** Endpoints of OpenAI's that clients ask for, and what serves them here. */
const INSTEAD: readonly (readonly [RegExp, string])[] = [
  [/^\/v1\/responses(?:\/|$)/, 'The Responses API is not offered: use POST /v1/chat/completions.'],
  [/^\/v1\/completions$/, 'Text completions are not offered: use POST /v1/chat/completions.'],
  [/^\/v1\/embeddings$/, 'Embeddings are not offered: the models of GET /v1/models answer chats.'],
  [/^\/v1\/models\/./, 'Single models are not offered: find yours by its id in GET /v1/models.'],
];

/** What is no route is not found, whatever the key; with a hint where the mistake is a common one. */
export function routeNotFound(path: string): Refusal {
  const hint = hintFor(path);
  const message = hint === undefined ? 'This path does not exist.' : `This path does not exist. ${hint}`;
  return refuse('route_not_found', { message });
}

function hintFor(path: string): string | undefined {
  const known = METHODS.get(path);
  if (known !== undefined) return `Use ${known} ${path}.`;
  const instead = INSTEAD.find(([pattern]) => pattern.test(path));
  if (instead) return instead[1];
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
