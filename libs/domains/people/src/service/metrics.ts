import { Counter, type Registry } from 'prom-client';
import type { SignOnRefusalReason } from '../core/single-sign-on/sign-on-refusal';

/** Metrics of sign-ins, with their labels bound once. */
export function createPeopleMetrics(metrics: Registry) {
  const signIns = new Counter({
    name: 'gateway_auth_sign_ins_total',
    help: 'Attempts to sign in to the dashboard, by outcome.',
    labelNames: ['outcome'],
    registers: [metrics],
  });
  const signOns = new Counter({
    name: 'gateway_auth_single_sign_on_attempts_total',
    help: 'Single sign-on attempts, by outcome: signed_on, or the reason for the refusal.',
    labelNames: ['outcome'],
    registers: [metrics],
  });
  return {
    signIns: {
      signed_in: signIns.labels('signed_in'),
      refused: signIns.labels('refused'),
      second_factor_required: signIns.labels('second_factor_required'),
      second_factor_refused: signIns.labels('second_factor_refused'),
      account_disabled: signIns.labels('account_disabled'),
      too_many_attempts: signIns.labels('too_many_attempts'),
    },
    /** The outcomes are a closed list. */
    countSignOn: (outcome: 'signed_on' | SignOnRefusalReason) => signOns.inc({ outcome }),
  };
}

export type PeopleMetrics = ReturnType<typeof createPeopleMetrics>;
