import { LimitScope, LimitType } from '@gateway/contracts/rate-limit';
import type * as proto from '@gateway/contracts/rate-limit';
import type * as core from '../core';

const LIMIT_TYPES: Readonly<Record<core.LimitType, LimitType>> = {
  requests: LimitType.LIMIT_TYPE_REQUESTS,
  tokens: LimitType.LIMIT_TYPE_TOKENS,
  concurrency: LimitType.LIMIT_TYPE_CONCURRENCY,
};

const LIMIT_SCOPES: Readonly<Record<core.LimitScope, LimitScope>> = {
  key: LimitScope.LIMIT_SCOPE_KEY,
  organization: LimitScope.LIMIT_SCOPE_ORGANIZATION,
};

const NO_LIMITS: core.Limits = {};

export function toAdmission(message: proto.Admission): core.Admission {
  return {
    tokens: message.tokens,
    organizationLimits: message.organizationLimits ?? NO_LIMITS,
    keyLimits: message.keyLimits ?? NO_LIMITS,
    ...toRef(message),
  };
}

export function toRef(message: proto.SlotRef): core.AdmissionRef {
  const { admissionId, organizationId, keyId } = message;
  if (!admissionId || !organizationId || !keyId) throw new Error('an admission lacks one of its three ids');
  return { admissionId, organizationId, keyId };
}

export function toFinished(message: proto.FinishedAdmission): core.FinishedAdmission {
  const { outcome } = message;
  if (outcome === undefined) throw new Error('a finished admission lacks its outcome');
  return {
    outcome:
      outcome.$case === 'returned' ? { kind: 'returned' } : { kind: 'used', tokens: outcome.value.tokens },
    ...toRef(message),
  };
}

export function fromDecision(decision: core.Decision): proto.AdmissionResult {
  return { outcome: outcomeOf(decision), requests: decision.requests, tokens: decision.tokens };
}

function outcomeOf(decision: core.Decision): proto.AdmissionResult['outcome'] {
  if (decision.kind === 'admitted') {
    const { slotLeaseMs, hasRoom } = decision;
    return { $case: 'admitted', value: { slotLeaseMs, hasRoom } };
  }
  if (decision.kind === 'undecided') return { $case: 'undecided', value: {} };
  const { limitType, scope, limit, retryAfterMs } = decision;
  return {
    $case: 'refused',
    value: { limitType: LIMIT_TYPES[limitType], scope: LIMIT_SCOPES[scope], limit, retryAfterMs },
  };
}
