import { isRefusal, refuse, type Refusal } from '@gateway/errors';
import type { FormatName } from '../formats/request-format';
import { canonicalBodySha256Input } from '../json/canonical-json';
import type { JsonObject } from '../json/json-value';
import type { JsonMeasure } from '../json/measure-json';
import { parseJsonBody } from '../json/parse-json-body';
import { readExactSeed } from './exact-seed';
import type { CallerPolicy, ModelView, UncountedChatRequest } from './types';
import { checkChatRequest } from './validate-chat-request';

/** What a body is validated against. Plain data, so that it can be sent to another thread. */
export interface ChatBodyRules {
  readonly policy: CallerPolicy;
  /** By id; undefined before the first model catalogue, when every model would look unknown. */
  readonly models: ReadonlyMap<string, ModelView> | undefined;
  /** Whether to compute `bodySha256`. */
  readonly wantsSha256: boolean;
  /** Absent: a chat completion. */
  readonly format?: FormatName | undefined;
  /** Whether hosted tools are removed instead of refused. */
  readonly dropsHostedTools?: boolean | undefined;
}

export type Sha256 = (text: string) => Uint8Array;

/** A body that passed all checks except those that need its token count. Plain data. */
export interface CheckedChatBody {
  readonly request: UncountedChatRequest;
  /** Digest of the canonical JSON: order and white space do not matter. Present when requested. */
  readonly bodySha256?: Uint8Array;
}

/** A refused body, with the model that it names, for the record of the refusal. */
export interface RefusedChatBody extends Refusal {
  readonly requestedModel?: string;
}

/** A longer name is no model's, so it is shortened. */
const MAX_NAMED_CHARACTERS = 256;

/**
 * Parses and checks the body of a chat completion, and builds the forwarded
 * body. A pure function, so that the result is the same in every thread.
 *
 * @param measure - of the same bytes, when already known.
 */
export function checkChatBody(
  bytes: Uint8Array,
  { policy, models, wantsSha256, format = 'chat', dropsHostedTools }: ChatBodyRules,
  sha256: Sha256,
  measure?: JsonMeasure,
): CheckedChatBody | RefusedChatBody {
  const body = parseJsonBody(bytes, measure);
  if (isRefusal(body)) return body;
  if (!models) return refuse('no_capacity', { internalMessage: 'no model catalogue yet' });
  // Only chat completions have a seed.
  const seed = format === 'chat' ? readExactSeed(bytes, body.value) : undefined;
  const findModel = (id: string) => models.get(id);
  const request = checkChatRequest(body.value, { policy, findModel, format, dropsHostedTools }, seed);
  if (isRefusal(request)) return { ...request, ...modelNamedBy(body.value) };
  if (!wantsSha256) return { request };
  return { request, bodySha256: sha256(canonicalBodySha256Input(body.value) + (seed ?? '')) };
}

function modelNamedBy(body: JsonObject): Pick<RefusedChatBody, 'requestedModel'> {
  const named = Object.hasOwn(body, 'model') ? body['model'] : undefined;
  return typeof named === 'string' ? { requestedModel: named.slice(0, MAX_NAMED_CHARACTERS) } : {};
}
