import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { SignOnRefusalReason } from '../core/single-sign-on/sign-on-refusal';

/** The domain's metrics, their labels bound once. */
export function createAuthMetrics(metrics: Registry) {
  const verified = new Counter({
    name: 'gateway_auth_verified_keys_total',
    help: 'Keys that edges asked about, by whether the key exists.',
    labelNames: ['outcome'],
    registers: [metrics],
  });
  const signIns = new Counter({
    name: 'gateway_auth_sign_ins_total',
    help: 'Attempts to sign in to the dashboard, by outcome.',
    labelNames: ['outcome'],
    registers: [metrics],
  });
  const signOns = new Counter({
    name: 'gateway_auth_single_sign_ons_total',
    help: 'What became of sign-ins by single sign-on: signed_on, or why not.',
    labelNames: ['outcome'],
    registers: [metrics],
  });
  return {
    verifiedGrant: verified.labels('grant'),
    verifiedUnknown: verified.labels('unknown'),
    signIns: {
      signed_in: signIns.labels('signed_in'),
      refused: signIns.labels('refused'),
      second_factor_required: signIns.labels('second_factor_required'),
      second_factor_refused: signIns.labels('second_factor_refused'),
      too_many_attempts: signIns.labels('too_many_attempts'),
    },
    /** One count of a closed list of outcomes. */
    countSignOn: (outcome: 'signed_on' | SignOnRefusalReason) => signOns.inc({ outcome }),
    watches: new Gauge({
      name: 'gateway_auth_open_watches',
      help: 'Edges that are listening for invalidations at this replica.',
      registers: [metrics],
    }),
    edgeWaitSeconds: new Histogram({
      name: 'gateway_auth_edge_wait_seconds',
      help: 'How long a change that edges must hear of took, from the call until no edge could act on what was before.',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers: [metrics],
    }),
  };
}

export type AuthMetrics = ReturnType<typeof createAuthMetrics>;
