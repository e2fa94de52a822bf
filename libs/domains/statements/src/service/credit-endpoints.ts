import { createHash } from 'node:crypto';
import { implement, isoTime, usd, type Implementation } from '@gateway/admin-calls';
import { auditOf, formatUsd, nanoUsd, type Actor, type NanoUsd } from '@gateway/base';
import {
  addCredit,
  noteOf,
  parseAmount,
  parseIdentifier,
  parseNote,
  parseRequest,
  type AddCreditPorts,
  type Balance,
} from '@gateway/billing-ledger';
import { DashboardError, endpoints } from '@gateway/dashboard-contract';
import type { CreditAlertStore, StatementStore } from '../core/ports';
import { balanceView, lowBalanceView } from './views';

export interface CreditEndpointPorts extends AddCreditPorts {
  readonly statements: StatementStore;
  readonly alerts: Pick<CreditAlertStore, 'readAlert'>;
}

/** The balance, credit, and corrections: a correction needs a preview, whose token confirms exactly that amount and reason. */
export function createCreditEndpoints(ports: CreditEndpointPorts): readonly Implementation[] {
  const { ledger, statements, alerts, newId } = ports;
  const { balance, add, previewCorrection, correct } = endpoints.credit;

  return [
    implement(balance, async ({ params: { organization_id: organizationId } }) => {
      const [current, alert] = await Promise.all([
        ledger.readBalance(organizationId),
        alerts.readAlert(organizationId),
      ]);
      return { balance: balanceView(current), low_balance: lowBalanceView(alert, current) };
    }),

    implement(add, async ({ params: { organization_id: organizationId }, body, headers, actor }) => {
      const { amount_usd: amountNanoUsd, note } = body;
      const header = headers['idempotency-key'];
      const creditId = header === undefined ? newId('crd') : creditIdOf(organizationId, header);
      const credit = { creditId, organizationId, amountNanoUsd, note: note ?? '' };
      const after = await addCredit(ports, actor, credit);
      if (after === 'conflict') {
        throw new DashboardError('conflict', {
          message: 'This Idempotency-Key was already used with a different amount.',
          param: 'Idempotency-Key',
        });
      }
      return {
        credit: { id: creditId, amount_usd: usd(amountNanoUsd), note: note ?? null },
        balance: balanceView(after),
      };
    }),

    implement(previewCorrection, async ({ params, body, actor }) => {
      const correctionId = newId('crd');
      const correction = correctionOf(params.organization_id, body, actor);
      const outcome = await statements.previewCorrection({ ...correction, correctionId });
      if (outcome.kind === 'insufficient') throw insufficient(outcome.before);
      return {
        before: balanceView(outcome.before),
        after: balanceView(subtractCredit(outcome.before, correction.amountNanoUsd)),
        confirmation_token: correctionId,
        expires_at: isoTime(outcome.expires),
      };
    }),

    implement(correct, async ({ params, body, actor }) => {
      const correction = correctionOf(params.organization_id, body, actor);
      const { confirmation_token: token, reason } = body;
      const correctionId = parseRequest(() => parseIdentifier('correction_id', token));
      const { organizationId, amountNanoUsd } = correction;
      const amountUsd = formatUsd(nanoUsd(-amountNanoUsd));
      const details = { amount_usd: amountUsd, reason };
      const audit = auditOf(
        { actor, organizationId, action: 'credit.correct', target: correctionId, details },
        ports,
      );
      const { kind } = await statements.correctCredit({ ...correction, correctionId }, audit);
      const after = await ledger.readBalance(organizationId);
      switch (kind) {
        case 'corrected':
          return {
            correction: { id: correctionId, amount_usd: amountUsd, reason },
            balance: balanceView(after),
          };
        case 'insufficient':
          throw insufficient(after);
        case 'unknown':
          throw notAsPreviewed('The preview has expired.');
        case 'different':
          throw notAsPreviewed('The amount or the reason has changed since the preview.');
      }
    }),
  ];
}

/** Derives the credit id, so that a repeated header adds the credit once. */
function creditIdOf(organizationId: string, header: string): string {
  const hash = createHash('sha256').update(`${organizationId}\n${header}`).digest('hex');
  return `crd-${hash.slice(0, 32)}`;
}

/** The note names the person, so that only the person who previewed a correction can confirm it. */
function correctionOf(
  organizationId: string,
  body: { readonly amount_usd: bigint; readonly reason: string },
  actor: Actor,
) {
  return parseRequest(() => ({
    organizationId,
    amountNanoUsd: parseAmount('amount_nano_usd', body.amount_usd, 1n),
    note: parseNote(noteOf(actor, body.reason)),
  }));
}

function subtractCredit(balance: Balance, amount: NanoUsd): Balance {
  return {
    ...balance,
    creditedNanoUsd: nanoUsd(balance.creditedNanoUsd - amount),
    availableNanoUsd: nanoUsd(balance.availableNanoUsd - amount),
  };
}

function insufficient({ availableNanoUsd }: Balance): DashboardError {
  return new DashboardError('conflict', {
    message: `Only ${usd(availableNanoUsd)} US dollars are available.`,
    param: 'amount_usd',
    metadata: { available_usd: usd(availableNanoUsd) },
  });
}

function notAsPreviewed(why: string): DashboardError {
  return new DashboardError('conflict', {
    message: `${why} Preview the correction again.`,
    param: 'confirmation_token',
  });
}
