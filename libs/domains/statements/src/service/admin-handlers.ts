import { randomBytes } from 'node:crypto';
import {
  auditOf,
  formatUsd,
  isEmailAddress,
  nanoUsd,
  type Actor,
  type Clock,
  type NanoUsd,
} from '@gateway/base';
import {
  noteOf,
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
import { actorOf, type RpcHandlers } from '@gateway/rpc';
import { MAX_BUDGET_SHARES } from '../core/budget-alert';
import type { CreditAlertStore, StatementStore } from '../core/ports';
import {
  parseCreditCursor,
  parseCursor,
  parseDay,
  parseMonth,
  renderAlert,
  renderCredit,
  renderCreditCursor,
  renderEntry,
  renderLine,
  renderMonth,
  renderCursor,
  renderDay,
  renderReconciliation,
} from './messages';
import type { AlertDispatcher } from './alert-dispatcher';

export interface AdminHandlerPorts {
  readonly ledger: Pick<LedgerStore, 'readBalance' | 'readHealth'>;
  readonly statements: StatementStore;
  readonly alerts: CreditAlertStore;
  readonly dispatcher: AlertDispatcher;
  /** Why a webhook URL is refused; undefined if it is accepted. */
  readonly webhookUrlIssue: (url: string) => string | undefined;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
}

const MAX_LINES = 1_000;
const MAX_EMAILS = 20;
const MAX_ORGANIZATIONS = 200;
const MAX_PROJECTS = 200;

/** The rpcs of BillingLedgerAdmin. */
export function createAdminHandlers(
  ports: AdminHandlerPorts,
): RpcHandlers<typeof BillingLedgerAdminDefinition> {
  const { ledger, statements, alerts, dispatcher, newId } = ports;

  const parseOrganizationId = ({ organizationId }: { readonly organizationId: string }): string =>
    parseRequest(() => parseIdentifier('organization_id', organizationId));

  return {
    listEntries: async (request) => {
      const organizationId = parseOrganizationId(request);
      // An invalid id cannot have postings.
      if (!/^[\x21-\x7e]{1,200}$/.test(request.reference)) return { entries: [] };
      return { entries: (await statements.listEntries(organizationId, request.reference)).map(renderEntry) };
    },

    listBalances: async ({ organizationIds }) => {
      if (organizationIds.length > MAX_ORGANIZATIONS) {
        const message = `organization_ids must have at most ${MAX_ORGANIZATIONS} entries.`;
        throw new GatewayError('invalid_request', { message, param: 'organization_ids' });
      }
      return { balances: [...(await statements.readBalances(organizationIds))] };
    },

    listProjectSpend: async (request) => {
      const organizationId = parseOrganizationId(request);
      if (request.projectIds.length > MAX_PROJECTS) {
        const message = `project_ids must have at most ${MAX_PROJECTS} entries.`;
        throw new GatewayError('invalid_request', { message, param: 'project_ids' });
      }
      const projectIds = parseRequest(() =>
        request.projectIds.map((id) => parseIdentifier('project_ids', id)),
      );
      return { projects: [...(await statements.readProjectSpend(organizationId, projectIds))] };
    },

    listStatement: async (request) => {
      const organizationId = parseOrganizationId(request);
      const limit = Math.min(Math.max(request.pageSize, 1), MAX_LINES);
      const month = parseMonth(request.month);
      const { sums, lines } = await statements.readStatement({
        organizationId,
        month,
        day: parseDay(request.day, month),
        oldestFirst: request.oldestFirst,
        after: parseCursor(request.pageToken),
        limit: limit + 1,
      });
      const shown = lines.slice(0, limit);
      const last = shown.at(-1);
      return {
        sums: renderMonth(sums),
        lines: shown.map(renderLine),
        nextPageToken: lines.length > limit && last ? renderCursor(last, request.oldestFirst) : '',
      };
    },

    listStatementMonths: async (request) => ({
      months: (await statements.readMonths(parseOrganizationId(request))).map(renderMonth),
    }),

    listStatementDays: async (request) => {
      const { sums, days } = await statements.readDays(
        parseOrganizationId(request),
        parseMonth(request.month),
      );
      return { sums: renderMonth(sums), days: days.map(renderDay) };
    },

    listCredits: async (request) => {
      const limit = Math.min(Math.max(request.pageSize, 1), MAX_LINES);
      const credits = await statements.listCredits({
        organizationId: parseOrganizationId(request),
        month: parseMonth(request.month),
        after: parseCreditCursor(request.pageToken),
        limit: limit + 1,
      });
      const shown = credits.slice(0, limit);
      const last = shown.at(-1);
      return {
        credits: shown.map(renderCredit),
        nextPageToken: credits.length > limit && last ? renderCreditCursor(last) : '',
      };
    },

    previewCorrection: async (request, context) => {
      const correction = { ...correctionOf(request, actorOf(context)), correctionId: newId('crd') };
      const outcome = await statements.previewCorrection(correction);
      if (outcome.kind === 'insufficient') {
        return { outcome: { $case: 'refused', value: insufficient(outcome.before) } };
      }
      return {
        outcome: {
          $case: 'preview',
          value: {
            correctionId: correction.correctionId,
            before: renderBalance(outcome.before),
            after: renderBalance(subtractCredit(outcome.before, correction.amountNanoUsd)),
            expiresUnixMs: BigInt(outcome.expires),
          },
        },
      };
    },

    correctCredit: async (request, context) => {
      const actor = actorOf(context);
      const correction = correctionOf(request, actor);
      const correctionId = parseRequest(() => parseIdentifier('correction_id', request.correctionId));
      const { organizationId, amountNanoUsd } = correction;
      const details = { amount_usd: formatUsd(nanoUsd(-amountNanoUsd)), reason: request.note };
      const audit = auditOf(
        { actor, organizationId, action: 'credit.correct', target: correctionId, details },
        ports,
      );
      const { kind } = await statements.correctCredit({ ...correction, correctionId }, audit);
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

    getLedgerReconciliation: async () => renderReconciliation(await statements.readReconciliation()),

    getCreditAlert: async (request) => ({
      alert: renderAlert(await alerts.readAlert(parseOrganizationId(request))),
    }),

    setCreditAlert: async (request, context) => {
      const organizationId = parseOrganizationId(request);
      const { thresholdNanoUsd, webhookUrl, emails, keepWebhook: keepsWebhook } = request;
      if (keepsWebhook && webhookUrl !== undefined)
        throw invalid('webhook_url', 'must be absent with keep_webhook');
      if (webhookUrl !== undefined) {
        if (!alerts.storesWebhooks)
          throw invalid('webhook_url', 'cannot be stored: GATEWAY_SECRETS_KEY is not set for billing-ledger');
        const issue = ports.webhookUrlIssue(webhookUrl);
        if (issue) throw invalid('webhook_url', issue);
      }
      if (emails.length > MAX_EMAILS) throw invalid('emails', `must have at most ${MAX_EMAILS} entries`);
      const index = emails.findIndex((email) => !isEmailAddress(email));
      if (index !== -1) throw invalid(`emails[${index}]`, 'must be an email address');
      const budgetShares = request.budgetShares && readShares(request.budgetShares.percent);
      const threshold =
        thresholdNanoUsd === undefined
          ? undefined
          : parseRequest(() => parseAmount('threshold_nano_usd', thresholdNanoUsd, 1n));
      const details = {
        threshold_usd: threshold === undefined ? null : formatUsd(threshold),
        // The path of a webhook URL may be a secret.
        webhook_host: keepsWebhook ? 'unchanged' : webhookUrl === undefined ? null : new URL(webhookUrl).host,
        emails,
        budget_shares: budgetShares ?? 'unchanged',
      };
      const { alert, secret } = await alerts.setAlert(
        organizationId,
        { thresholdNanoUsd: threshold, webhookUrl, emails, keepsWebhook, budgetShares },
        `whsec_${randomBytes(32).toString('base64url')}`,
        auditOf(
          {
            actor: actorOf(context),
            organizationId,
            action: 'credit_alert.set',
            target: organizationId,
            details,
          },
          ports,
        ),
      );
      return { alert: renderAlert(alert), webhookSecret: secret };
    },

    testCreditAlert: async (request, context) => {
      const organizationId = parseOrganizationId(request);
      const recipients = await alerts.readRecipients(organizationId);
      if (!recipients) return { hasRecipient: false, failure: undefined };
      await alerts.recordTest(
        auditOf(
          {
            actor: actorOf(context),
            organizationId,
            action: 'credit_alert.test',
            target: organizationId,
            details: {},
          },
          ports,
        ),
      );
      return {
        hasRecipient: true,
        failure: await dispatcher.deliver({ ...recipients, testedAt: ports.clock.now() }),
      };
    },
  };
}

/** The shares in ascending order, each once. */
function readShares(percents: readonly number[]): number[] {
  const shares = [...new Set(percents)].sort((a, b) => a - b);
  if (shares.length > MAX_BUDGET_SHARES || shares.some((share) => share < 1 || share > 100)) {
    throw invalid('budget_shares', `must have at most ${MAX_BUDGET_SHARES} whole numbers from 1 to 100`);
  }
  return shares;
}

/** The note names the person, so that only the person who previewed a correction can confirm it. */
function correctionOf(
  request: { readonly organizationId: string; readonly amountNanoUsd: bigint; readonly note: string },
  actor: Actor,
) {
  return parseRequest(() => ({
    organizationId: parseIdentifier('organization_id', request.organizationId),
    amountNanoUsd: parseAmount('amount_nano_usd', request.amountNanoUsd, 1n),
    note: parseNote(noteOf(actor, request.note)),
  }));
}

function subtractCredit(balance: Balance, amount: NanoUsd): Balance {
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
