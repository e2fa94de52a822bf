import { randomBytes } from 'node:crypto';
import { nanoUsd, type NanoUsd } from '@gateway/base';
import {
  parseAmount,
  parseIdentifier,
  parseNote,
  parseRequest,
  renderBalance,
} from '@gateway/billing-ledger';
import type { Balance, LedgerStore } from '@gateway/billing-ledger/core';
import {
  CorrectionRefusal,
  type BillingLedgerAdminDefinition,
  type CorrectionRefused,
} from '@gateway/contracts/billing-ledger';
import { GatewayError } from '@gateway/errors';
import type { RpcHandlers } from '@gateway/rpc';
import type { CreditAlertStore, LedgerBooks } from '../core/ports';
import {
  readMonth,
  readPlace,
  renderAlert,
  renderEntry,
  renderLine,
  renderMonth,
  renderPlace,
  renderReconciliation,
} from './messages';
import type { AlertDispatcher } from './alert-dispatcher';

export interface AdminHandlerPorts {
  readonly ledger: Pick<LedgerStore, 'readBalance' | 'readHealth'>;
  readonly books: LedgerBooks;
  readonly alerts: CreditAlertStore;
  readonly dispatcher: AlertDispatcher;
  /** What is wrong with an address for webhooks. */
  readonly faultOfWebhookUrl: (url: string) => string | undefined;
  readonly newId: (prefix: string) => string;
}

const MAX_LINES = 1_000;
const MAX_EMAILS = 20;

/** What people look at and correct. */
export function createAdminHandlers(
  ports: AdminHandlerPorts,
): RpcHandlers<typeof BillingLedgerAdminDefinition> {
  const { ledger, books, alerts, dispatcher, newId } = ports;

  const organizationOf = ({ organizationId }: { readonly organizationId: string }): string =>
    parseRequest(() => parseIdentifier('organization_id', organizationId));

  return {
    listEntries: async (request) => {
      const organizationId = organizationOf(request);
      // What is no id names nothing.
      if (!/^[\x21-\x7e]{1,200}$/.test(request.reference)) return { entries: [] };
      return { entries: (await books.listEntries(organizationId, request.reference)).map(renderEntry) };
    },

    listStatement: async (request) => {
      const organizationId = organizationOf(request);
      const limit = Math.min(Math.max(request.pageSize, 1), MAX_LINES);
      const { sums, lines } = await books.readStatement({
        organizationId,
        month: readMonth(request.month),
        oldestFirst: request.oldestFirst,
        after: readPlace(request.pageToken),
        limit: limit + 1,
      });
      const shown = lines.slice(0, limit);
      const last = shown.at(-1);
      return {
        sums: renderMonth(sums),
        lines: shown.map(renderLine),
        nextPageToken: lines.length > limit && last ? renderPlace(last, request.oldestFirst) : '',
      };
    },

    listStatementMonths: async (request) => ({
      months: (await books.readMonths(organizationOf(request))).map(renderMonth),
    }),

    previewCorrection: async (request) => {
      const correction = { ...correctionOf(request), correctionId: newId('crd') };
      const outcome = await books.previewCorrection(correction);
      if (outcome.kind === 'insufficient') {
        return { outcome: { $case: 'refused', value: insufficient(outcome.before) } };
      }
      return {
        outcome: {
          $case: 'preview',
          value: {
            correctionId: correction.correctionId,
            before: renderBalance(outcome.before),
            after: renderBalance(less(outcome.before, correction.amountNanoUsd)),
            expiresUnixMs: BigInt(outcome.expires),
          },
        },
      };
    },

    correctCredit: async (request) => {
      const correction = correctionOf(request);
      const correctionId = parseRequest(() => parseIdentifier('correction_id', request.correctionId));
      const { kind } = await books.correctCredit({ ...correction, correctionId });
      const balance = await ledger.readBalance(correction.organizationId);
      switch (kind) {
        case 'corrected':
          return { outcome: { $case: 'corrected', value: renderBalance(balance) } };
        case 'insufficient':
          return { outcome: { $case: 'refused', value: insufficient(balance) } };
        case 'unknown':
          return refused(CorrectionRefusal.CORRECTION_REFUSAL_UNKNOWN, balance);
        case 'different':
          return refused(CorrectionRefusal.CORRECTION_REFUSAL_DIFFERENT, balance);
      }
    },

    getLedgerHealth: async () => {
      const { openHolds, heldNanoUsd, oldestHold, overdueHolds } = await ledger.readHealth();
      return {
        openHolds,
        heldNanoUsd,
        oldestHoldUnixMs: oldestHold === undefined ? undefined : BigInt(oldestHold),
        overdueHolds,
      };
    },

    getLedgerReconciliation: async () => renderReconciliation(await books.readReconciliation()),

    getCreditAlert: async (request) => ({
      alert: renderAlert(await alerts.readAlert(organizationOf(request))),
    }),

    setCreditAlert: async (request) => {
      const organizationId = organizationOf(request);
      const { thresholdNanoUsd, webhookUrl, emails } = request;
      if (webhookUrl !== undefined) {
        const fault = ports.faultOfWebhookUrl(webhookUrl);
        if (fault) throw invalid('webhook_url', fault);
      }
      if (emails.length > MAX_EMAILS) throw invalid('emails', `takes ${MAX_EMAILS} at most`);
      const place = emails.findIndex((email) => !/^[^\s@\0<>,;]{1,64}@[^\s@\0<>,;]{1,255}$/.test(email));
      if (place !== -1) throw invalid(`emails[${place}]`, 'must be an email address');
      const { alert, secret } = await alerts.setAlert(
        organizationId,
        {
          thresholdNanoUsd:
            thresholdNanoUsd === undefined
              ? undefined
              : parseRequest(() => parseAmount('threshold_nano_usd', thresholdNanoUsd, 1n)),
          webhookUrl,
          emails,
        },
        `whsec_${randomBytes(32).toString('base64url')}`,
      );
      return { alert: renderAlert(alert), webhookSecret: secret };
    },

    testCreditAlert: async (request) => {
      const due = await alerts.readDue(organizationOf(request));
      if (!due) return { hasRecipient: false, failure: undefined };
      return { hasRecipient: true, failure: await dispatcher.deliver(due) };
    },
  };
}

function correctionOf(request: {
  readonly organizationId: string;
  readonly amountNanoUsd: bigint;
  readonly note: string;
}) {
  return parseRequest(() => ({
    organizationId: parseIdentifier('organization_id', request.organizationId),
    amountNanoUsd: parseAmount('amount_nano_usd', request.amountNanoUsd, 1n),
    note: parseNote(request.note),
  }));
}

function less(balance: Balance, amount: NanoUsd): Balance {
  return {
    ...balance,
    creditedNanoUsd: nanoUsd(balance.creditedNanoUsd - amount),
    availableNanoUsd: nanoUsd(balance.availableNanoUsd - amount),
  };
}

function insufficient(balance: Balance): CorrectionRefused {
  return {
    reason: CorrectionRefusal.CORRECTION_REFUSAL_INSUFFICIENT,
    availableNanoUsd: balance.availableNanoUsd,
  };
}

function refused(reason: CorrectionRefusal, { availableNanoUsd }: Balance) {
  return { outcome: { $case: 'refused' as const, value: { reason, availableNanoUsd } } };
}

function invalid(param: string, what: string): GatewayError {
  return new GatewayError('invalid_request', { param, message: `${param} ${what}.` });
}
