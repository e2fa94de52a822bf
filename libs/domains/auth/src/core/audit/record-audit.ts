import { GatewayError } from '@gateway/errors';
import { auditOf, type Actor, type JsonObject, isIdLike } from '@gateway/auth-shared';
import type { AuthPorts } from '../ports';

const MAX_DETAILS_CHARACTERS = 10_000;
const MAX_TARGET_CHARACTERS = 200;

export interface RecordAudit {
  readonly actor: Actor;
  readonly organizationId?: string;
  readonly action: string;
  readonly target: string;
  readonly detailsJson: string;
}

/** Writes the entry for a change that another domain is about to make, and returns its id. */
export async function recordAudit(
  ports: Pick<AuthPorts, 'audit' | 'clock' | 'newId'>,
  { actor, organizationId, action, target, detailsJson }: RecordAudit,
): Promise<string> {
  if (!/^[a-z_]{1,50}\.[a-z_]{1,50}$/.test(action)) throw invalidParam('action', 'must be like "credit.add"');
  if (target.length > MAX_TARGET_CHARACTERS || /\p{Cc}|\p{Cs}/u.test(target)) {
    throw invalidParam('target', `must be at most ${MAX_TARGET_CHARACTERS} printable characters`);
  }
  if (organizationId !== undefined && !isIdLike(organizationId)) {
    throw invalidParam('organization_id', 'is not an organization id');
  }
  const entry = auditOf(
    {
      actor,
      ...(organizationId === undefined ? {} : { organizationId }),
      action,
      target,
      details: readDetails(detailsJson),
    },
    ports,
  );
  await ports.audit.insert({ ...entry, outcome: 'started' });
  return entry.id;
}

/** Records the outcome of the change. Idempotent. */
export async function completeAudit(
  ports: Pick<AuthPorts, 'audit'>,
  auditId: string,
  succeeded: boolean,
): Promise<void> {
  const outcome = succeeded ? 'done' : 'failed';
  if (!isIdLike(auditId) || (await ports.audit.complete(auditId, outcome)) === 'not_started') {
    throw invalidParam('audit_id', 'is not the id of a started entry');
  }
}

function readDetails(json: string): JsonObject {
  if (json.length > MAX_DETAILS_CHARACTERS) {
    throw invalidParam('details_json', `must have at most ${MAX_DETAILS_CHARACTERS} characters`);
  }
  let details: unknown;
  try {
    details = JSON.parse(json);
  } catch {
    throw invalidParam('details_json', 'is not valid JSON');
  }
  if (typeof details !== 'object' || details === null || Array.isArray(details)) {
    throw invalidParam('details_json', 'must be a JSON object');
  }
  if (/\\u(0000|d[89a-f])/i.test(JSON.stringify(details))) {
    throw invalidParam('details_json', 'must not contain NUL or unpaired surrogates');
  }
  return details as JsonObject;
}

function invalidParam(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_request', { message: `${param} ${problem}.`, param });
}
