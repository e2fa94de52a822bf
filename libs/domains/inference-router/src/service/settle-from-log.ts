import type { BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { GenerationFinished } from '@gateway/contracts/events';
import { GatewayError } from '@gateway/errors';
import type { RpcClient } from '@gateway/rpc';

type SettlingLedger = Pick<RpcClient<typeof BillingLedgerDefinition>, 'settleGenerations'>;

export interface SettledFromLog {
  /** Generations that the ledger accepted; some may have been settled before. */
  readonly settled: number;
  /** Numbers of the lines whose generation is unreadable, or rejected by the ledger, from 1. */
  readonly unsettledLines: readonly number[];
}

/**
 * Settles the generations in the router's log lines "a finished generation could not
 * be stored". Other lines are skipped. Idempotent per generation id.
 *
 * @param lines log lines as JSON.
 */
export async function settleFromLog(
  lines: AsyncIterable<string>,
  ledger: SettlingLedger,
): Promise<SettledFromLog> {
  const unsettledLines: number[] = [];
  let settled = 0;
  let number = 0;
  for await (const line of lines) {
    number += 1;
    const encoded = generationIn(line);
    if (encoded === undefined) continue;
    const generation = decode(encoded);
    if (generation !== undefined && (await settle(generation, ledger))) settled += 1;
    else unsettledLines.push(number);
  }
  return { settled, unsettledLines };
}

/** @returns false for a generation that the ledger rejects now and later. */
async function settle(generation: GenerationFinished, ledger: SettlingLedger): Promise<boolean> {
  try {
    await ledger.settleGenerations({ generations: [generation] });
    return true;
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'invalid_request') return false;
    throw error;
  }
}

/** @returns undefined without a generation. An empty text, which is reported as unreadable, for a truncated or prefixed line. */
function generationIn(line: string): string | undefined {
  try {
    const fields = JSON.parse(line) as { generation?: unknown } | null;
    return typeof fields?.generation === 'string' ? fields.generation : undefined;
  } catch {
    return line.includes('"generation":"') ? '' : undefined;
  }
}

function decode(base64: string): GenerationFinished | undefined {
  try {
    const generation = GenerationFinished.decode(Buffer.from(base64, 'base64'));
    return generation.generationId === '' || generation.organizationId === '' ? undefined : generation;
  } catch {
    return undefined;
  }
}
