import { isRefusal, refuse, type Refusal } from '@gateway/errors';
import { canonicalBodySha256Input } from '../json/canonical-json';
import type { JsonMeasure } from '../json/measure-json';
import { parseJsonBody } from '../json/parse-json-body';
import { readExactSeed } from './exact-seed';
import type { CallerPolicy, ModelView, UncountedChatRequest } from './types';
import { checkChatRequest } from './validate-chat-request';

/** What a body is checked against, beside itself. Plain data, so that it can go to another thread. */
export interface ChatBodyRules {
  readonly policy: CallerPolicy;
  /** By id; undefined while no model catalogue has arrived, since every model would look unknown. */
  readonly models: ReadonlyMap<string, ModelView> | undefined;
  /** Whether the digest of what the body means is asked for. */
  readonly wantsSha256: boolean;
}

export type Sha256 = (text: string) => Uint8Array;

/** A body without a fault, so far as that can be said before its input is counted. Plain data. */
export interface CheckedChatBody {
  readonly request: UncountedChatRequest;
  /** Of what the body means: order and white space do not count. Present when it was asked for. */
  readonly bodySha256?: Uint8Array;
}

/**
 * Everything that is done with the bytes of a chat completion's body: reading
 * them as JSON, the checks, and what is sent on. Depends on its arguments
 * alone, so that it answers the same wherever it runs.
 *
 * @param measure - of the same bytes, when it is known already.
 */
export function checkChatBody(
  bytes: Uint8Array,
  { policy, models, wantsSha256 }: ChatBodyRules,
  sha256: Sha256,
  measure?: JsonMeasure,
): CheckedChatBody | Refusal {
  const body = parseJsonBody(bytes, measure);
  if (isRefusal(body)) return body;
  if (!models) return refuse('no_capacity', { internalMessage: 'no model catalogue yet' });
  const seed = readExactSeed(bytes, body.value);
  const request = checkChatRequest(body.value, { policy, findModel: (id) => models.get(id) }, seed);
  if (isRefusal(request)) return request;
  if (!wantsSha256) return { request };
  return { request, bodySha256: sha256(canonicalBodySha256Input(body.value) + (seed ?? '')) };
}
