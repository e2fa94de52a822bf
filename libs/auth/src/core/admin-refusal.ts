/** What of a request a rule refused: a value that the caller shows to its user. */
export interface AdminRefusal {
  readonly kind: 'refusal';
  readonly reason: 'not_found' | 'invalid' | 'conflict' | 'version_conflict' | 'forbidden';
  readonly message: string;
  /** The offending field, in the contract's spelling. */
  readonly field?: string;
}

export function invalid(field: string, message: string): AdminRefusal {
  return { kind: 'refusal', reason: 'invalid', field, message };
}

export function notFound(what: 'organization' | 'key' | 'member' | 'session' | 'invitation'): AdminRefusal {
  return { kind: 'refusal', reason: 'not_found', message: `No such ${what}.` };
}

export function forbidden(): AdminRefusal {
  return { kind: 'refusal', reason: 'forbidden', message: 'Your role does not allow this.' };
}

export function conflict(message: string): AdminRefusal {
  return { kind: 'refusal', reason: 'conflict', message };
}

/** Of two editors the second is told, unless it did not say what it had read. */
export function checkVersion(current: number, expected: number | undefined): AdminRefusal | undefined {
  if (expected === undefined || expected === current) return undefined;
  return {
    kind: 'refusal',
    reason: 'version_conflict',
    message: `Somebody else changed this meanwhile: it is at version ${current}, not ${expected}.`,
  };
}
