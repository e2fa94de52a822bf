import { auditOf, formatUsd, type Actor, type Clock } from '@gateway/base';
import type { Balance } from '../core/credit/balance';
import type { LedgerStore } from '../core/ports';
import { noteOf, parseAmount, parseIdentifier, parseNote, parseRequest } from './messages';

export interface AddCreditPorts {
  readonly ledger: Pick<LedgerStore, 'addCredit' | 'readBalance'>;
  readonly newId: (prefix: string) => string;
  readonly clock: Clock;
}

export interface NewCredit {
  readonly creditId: string;
  readonly organizationId: string;
  readonly amountNanoUsd: bigint;
  /** Why; empty for no reason. */
  readonly note: string;
}

/** Adds credit once, with an entry of the audit log. `conflict`: the id was used for another organization or amount. */
export async function addCredit(
  { ledger, ...ports }: AddCreditPorts,
  actor: Actor,
  { creditId, organizationId, amountNanoUsd, note }: NewCredit,
): Promise<Balance | 'conflict'> {
  const credit = parseRequest(() => ({
    creditId: parseIdentifier('credit_id', creditId),
    organizationId: parseIdentifier('organization_id', organizationId),
    amountNanoUsd: parseAmount('amount_nano_usd', amountNanoUsd, 1n),
    note: parseNote(noteOf(actor, note)),
  }));
  const details = { amount_usd: formatUsd(credit.amountNanoUsd), note: note === '' ? null : note };
  const audit = auditOf({ actor, organizationId, action: 'credit.add', target: creditId, details }, ports);
  if ((await ledger.addCredit(credit, audit)) === 'conflict') return 'conflict';
  return ledger.readBalance(organizationId);
}
