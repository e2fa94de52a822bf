import { createPeriodicTask, type Logger, type PeriodicTask } from '@gateway/runtime';
import type { DueBudgetAlert } from '../core/budget-alert';
import type { BudgetAlertSender, BudgetAlertStore, BudgetSource, ChargedOrganization } from '../core/ports';

export interface BudgetAlertPorts {
  readonly alerts: BudgetAlertStore;
  readonly budgets: BudgetSource;
  readonly sender: BudgetAlertSender;
  /** Without a mail server, alerts have no email recipients. */
  readonly sendsMail: boolean;
  readonly log: Logger;
  readonly intervalMs: number;
}

const MAX_ORGANIZATIONS_PER_ROUND = 100;
const MAX_DELIVERIES_PER_ROUND = 20;

/** Periodically finds the shares of budgets that spending has reached, and sends the alerts. No request waits for it. */
export function createBudgetAlerts(ports: BudgetAlertPorts): PeriodicTask {
  const { alerts, budgets, sender, sendsMail, log, intervalMs } = ports;

  async function compare(organization: ChargedOrganization): Promise<void> {
    const found = await budgets.list(organization.organizationId);
    await alerts.recordReached(organization, { ...found, emails: sendsMail ? found.emails : [] });
  }

  async function deliver(alert: DueBudgetAlert): Promise<void> {
    try {
      await sender.send(alert);
    } catch (error) {
      log.warn({ err: error, organizationId: alert.organizationId }, 'a budget alert was not delivered');
      return;
    }
    await alerts.recordDelivered(alert);
  }

  async function round(): Promise<void> {
    try {
      for (const organization of await alerts.listCharged(MAX_ORGANIZATIONS_PER_ROUND)) {
        await compare(organization);
      }
      await Promise.all((await alerts.claimDue(MAX_DELIVERIES_PER_ROUND)).map(deliver));
      await alerts.deleteOld();
    } catch (error) {
      log.error({ err: error }, 'processing budget alerts failed; retrying in the next round');
    }
  }

  return createPeriodicTask(round, intervalMs);
}
