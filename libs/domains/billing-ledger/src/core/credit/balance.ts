import { nanoUsd, ZERO_NANO_USD, type NanoUsd } from '@gateway/base';

/** What an organization has, as the ledger's accounts say. */
export interface Balance {
  /** Everything ever added. */
  readonly creditedNanoUsd: NanoUsd;
  /** Everything ever paid. */
  readonly chargedNanoUsd: NanoUsd;
  readonly heldNanoUsd: NanoUsd;
  /** What a new request can use. Never below zero. */
  readonly availableNanoUsd: NanoUsd;
}

/** An organization that never had credit. */
export const NO_BALANCE: Balance = {
  creditedNanoUsd: ZERO_NANO_USD,
  chargedNanoUsd: ZERO_NANO_USD,
  heldNanoUsd: ZERO_NANO_USD,
  availableNanoUsd: ZERO_NANO_USD,
};

/** What was added and not yet paid; part of it may be held. */
export function remainderOf({ creditedNanoUsd, chargedNanoUsd }: Balance): NanoUsd {
  return nanoUsd(creditedNanoUsd - chargedNanoUsd);
}

/** Prepaid credit on its way in. */
export interface Credit {
  readonly creditId: string;
  readonly organizationId: string;
  /** Above zero. */
  readonly amountNanoUsd: NanoUsd;
  readonly note: string;
}

/** `conflict`: the id was used for another organization or amount. */
export type AddCreditOutcome = 'added' | 'conflict';
