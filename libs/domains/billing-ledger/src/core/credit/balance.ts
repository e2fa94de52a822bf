import { nanoUsd, ZERO_NANO_USD, type NanoUsd } from '@gateway/base';

/** The balance of an organization. */
export interface Balance {
  /** Total credit added. */
  readonly creditedNanoUsd: NanoUsd;
  /** Total amount paid. */
  readonly chargedNanoUsd: NanoUsd;
  readonly heldNanoUsd: NanoUsd;
  /** Available to new requests. Never below zero. */
  readonly availableNanoUsd: NanoUsd;
}

/** The balance of an organization without credit. */
export const NO_BALANCE: Balance = {
  creditedNanoUsd: ZERO_NANO_USD,
  chargedNanoUsd: ZERO_NANO_USD,
  heldNanoUsd: ZERO_NANO_USD,
  availableNanoUsd: ZERO_NANO_USD,
};

/** Credit that is not spent; part of it may be held. */
export function remainderOf({ creditedNanoUsd, chargedNanoUsd }: Balance): NanoUsd {
  return nanoUsd(creditedNanoUsd - chargedNanoUsd);
}

/** Prepaid credit to add. */
export interface Credit {
  readonly creditId: string;
  readonly organizationId: string;
  /** Above zero. */
  readonly amountNanoUsd: NanoUsd;
  readonly note: string;
}

/** `conflict`: the id was used for another organization or amount. */
export type AddCreditOutcome = 'added' | 'conflict';
