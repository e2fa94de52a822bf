/** What operators are notified of. A closed list: the texts are in the library operator-notifications. */
export const INCIDENT_CAUSES = [
  /** A provider rejects our key, address or model name. Subject: the target. */
  'upstream_config_error',
  /** Every target of a model is unavailable for all organizations. Subject: the model. */
  'model_unavailable',
  /** A consumer gave up on events. Subject: topic and consumer group. */
  'dead_letters',
  /** Balances and postings differ. */
  'ledger_mismatch',
  /** Usage and settlements differ. */
  'usage_mismatch',
  /** Finished generations are on a router's disk, because neither event log nor ledger accepts them. Subject: the replica. */
  'spool_not_empty',
  /** Subject: the service. */
  'database_unavailable',
] as const;

export type IncidentCause = (typeof INCIDENT_CAUSES)[number];

export function isIncidentCause(name: string): name is IncidentCause {
  return (INCIDENT_CAUSES as readonly string[]).includes(name);
}

/** A failure that lasts, and that an operator has to fix. Never contains secrets, prompts or data of customers. */
export interface Incident {
  readonly cause: IncidentCause;
  /** What failed, such as "acme/large-1". */
  readonly subject: string;
  /** One line for the operator, such as "dead letters: 3". */
  readonly details: string;
}
