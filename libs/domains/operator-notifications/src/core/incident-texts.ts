import type { IncidentCause } from '@gateway/base';

interface IncidentText {
  readonly title: string;
  /** What it means for clients and customers. */
  readonly impact: string;
  readonly action: string;
  /** The page of the dashboard that shows it. */
  readonly page: string;
}

/** What operators read about each cause. */
export const incidentTexts: Readonly<Record<IncidentCause, IncidentText>> = {
  upstream_config_error: {
    title: "A provider rejects the gateway's API key, address or model name",
    impact: 'Requests fail with 500 upstream_config_error unless the model has another working target.',
    action: "Correct the provider's API key, or its address or model name in models.yaml.",
    page: '/operator/catalogue?tab=providers',
  },
  model_unavailable: {
    title: 'A model is unavailable for every organization',
    impact: 'Its requests fail, because the circuits of all its targets are open.',
    action: "See which calls fail, and the provider's status page. Add another target in models.yaml.",
    page: '/operator/catalogue?tab=providers',
  },
  dead_letters: {
    title: 'Events could not be processed',
    impact: 'Their generations are not charged or not shown until the events are redelivered.',
    action: 'Read the reason of each dead letter, fix it, and redeliver or discard the event.',
    page: '/operator/settlement',
  },
  ledger_mismatch: {
    title: 'Balances differ from their postings',
    impact: 'A balance may be wrong. Nothing is corrected automatically.',
    action: 'Compare the differences with docs/operate/reconciliation.md before you change anything.',
    page: '/operator/settlement',
  },
  usage_mismatch: {
    title: 'Usage differs from the settlements of the ledger',
    impact: 'Customers may see wrong usage. Balances are not affected.',
    action: 'Compare the differences with docs/operate/reconciliation.md before you change anything.',
    page: '/operator/settlement',
  },
  spool_not_empty: {
    title: 'Finished generations wait on the disk of a router',
    impact:
      'They are not charged until the event log or the ledger accepts them. A full disk stops requests.',
    action: 'Check that Kafka and billing-ledger run and that the routers can reach them.',
    page: '/operator/settlement',
  },
  database_unavailable: {
    title: 'A database is unavailable',
    impact: 'Requests that need it fail with 503 until it responds.',
    action: 'Check that PostgreSQL runs, accepts connections and has free disk space.',
    page: '/operator/settlement',
  },
};
