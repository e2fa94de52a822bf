import { withTimeout } from '@gateway/base';
import type { BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { GenerationFinished } from '@gateway/contracts/events';
import { GatewayError } from '@gateway/errors';
import { TOPIC_GENERATION_FINISHED, type EventAppender } from '@gateway/events';
import { encodeMessage, type RpcClient } from '@gateway/rpc';
import type { Logger } from '@gateway/runtime';
import type { FinishedGeneration } from '../core/generation/finished-generation';
import type { FinishedSpool } from '../core/ports';
import type { GenerationRecorder, Timer, Timers } from '../core/ports';
import { toGenerationFinished } from './messages';

/** How long one way of keeping a finished generation may take, in milliseconds, before the next is tried. */
const RECORD_TIMEOUT_MS = 5_000;
/** How long the end of a request with an Idempotency-Key waits for its answer to be stored, in milliseconds. */
const STORE_WAIT_MS = 500;
/** How often spooled generations are offered again, in milliseconds. */
const REPLAY_INTERVAL_MS = 5_000;

/**
 * Spooled generations that nobody took, one after the other, after which a round
 * ends: most likely nobody takes any. Above one, since it may be that one alone.
 */
const MAX_FAILURES_IN_A_ROW = 2;

/** Where the end of a generation was kept; `lost` when nowhere. */
export type KeptIn = 'event_log' | 'ledger' | 'spool' | 'lost';

export interface GenerationRecorderPorts {
  readonly events: EventAppender;
  readonly ledger: RpcClient<typeof BillingLedgerDefinition>;
  readonly spool: FinishedSpool;
  readonly timers: Timers;
  readonly log: Logger;
  readonly onKept: (where: KeptIn) => void;
  readonly onReplayed: () => void;
}

export interface SpoolingRecorder extends GenerationRecorder {
  /** Opens the spool and begins to replay it. */
  start(): Promise<void>;
  /** Offers what is spooled once more, then ends. */
  stop(): Promise<void>;
  /** Offers every spooled generation to the event log and the ledger. */
  replay(): Promise<void>;
}

/**
 * Makes ends of generations durable: in the event log; when that fails, by
 * settling with the ledger directly; when that fails too, in the spool, from
 * where they are offered again. A way that did not answer in time may have
 * worked all the same; whoever settles does so once per generation id.
 */
export function createGenerationRecorder(ports: GenerationRecorderPorts): SpoolingRecorder {
  const { events, ledger, spool, timers, log } = ports;
  let timer: Timer | undefined;
  let replaying: Promise<void> | undefined;

  async function record(finished: FinishedGeneration): Promise<void> {
    const message = toGenerationFinished(finished);
    const payload = encodeMessage(GenerationFinished, message);
    const { generationId } = message;
    const where = await keep(message, payload, finished.traceHeaders);
    ports.onKept(where);
    if (where === 'event_log' && message.idempotentOutcome) await storeAnswer(message);
    if (where !== 'lost') return;
    // The last resort: everything that the books need is in the log. Nothing of the answer is.
    log.fatal(
      { generation: Buffer.from(withoutAnswer(message)).toString('base64') },
      'a finished generation could not be kept anywhere; settle it by hand',
    );
    throw new GatewayError('internal_error', { internalMessage: `${generationId} could not be kept` });
  }

  /**
   * Settles at once what the event log would have settled a moment later, so that
   * whoever has the answer of a request with an Idempotency-Key can already
   * replay it. Nothing depends on it: the event settles it otherwise.
   */
  async function storeAnswer(message: GenerationFinished): Promise<void> {
    const { generationId } = message;
    try {
      await ledger.settleGenerations({ generations: [message] }, { timeoutMs: STORE_WAIT_MS });
    } catch (error) {
      log.debug({ err: error, generationId }, 'an answer is stored by its event only');
    }
  }

  async function keep(
    message: GenerationFinished,
    payload: Uint8Array,
    headers: Readonly<Record<string, string>>,
  ): Promise<KeptIn> {
    const { generationId, organizationId } = message;
    try {
      await appendTo(organizationId, payload, headers);
      return 'event_log';
    } catch (error) {
      log.warn({ err: error, generationId }, 'the event log did not take a finished generation');
    }
    try {
      await ledger.settleGenerations({ generations: [message] }, { timeoutMs: RECORD_TIMEOUT_MS });
      return 'ledger';
    } catch (error) {
      log.warn({ err: error, generationId }, 'the ledger did not take a finished generation');
    }
    try {
      await spool.put(generationId, payload);
      return 'spool';
    } catch (error) {
      log.error({ err: error, generationId }, 'the spool did not take a finished generation');
      return 'lost';
    }
  }

  function appendTo(key: string, payload: Uint8Array, headers: Readonly<Record<string, string>>) {
    const appending = events.append(TOPIC_GENERATION_FINISHED, [{ key, payload, headers }]);
    return withTimeout(appending, RECORD_TIMEOUT_MS, 'appending a finished generation');
  }

  /** Where the last round ended, so that the next one begins with others. */
  let lastTried: string | undefined;

  async function replayAll(): Promise<void> {
    const names = spool.names();
    const begin = lastTried === undefined ? 0 : names.indexOf(lastTried) + 1;
    let failuresInARow = 0;
    for (const name of [...names.slice(begin), ...names.slice(0, begin)]) {
      lastTried = name;
      failuresInARow = (await replayOne(name)) ? 0 : failuresInARow + 1;
      if (failuresInARow >= MAX_FAILURES_IN_A_ROW) return;
    }
  }

  /** @returns false when nobody takes it now. */
  async function replayOne(name: string): Promise<boolean> {
    try {
      return await offer(name);
    } catch (error) {
      log.error({ err: error, name }, 'a spooled generation could not be replayed');
      return false;
    }
  }

  async function offer(name: string): Promise<boolean> {
    const payload = await spool.read(name);
    const message = decode(payload);
    if (!message) {
      log.error({ name }, 'a spooled generation is unreadable and set aside');
      await spool.setAside(name);
      return true;
    }
    try {
      await appendTo(message.organizationId, payload, {});
    } catch {
      try {
        await ledger.settleGenerations({ generations: [message] }, { timeoutMs: RECORD_TIMEOUT_MS });
      } catch {
        return false;
      }
    }
    await spool.remove(name);
    ports.onReplayed();
    return true;
  }

  function replay(): Promise<void> {
    replaying ??= replayAll()
      .catch((error: unknown) => log.error({ err: error }, 'the spool could not be replayed'))
      .finally(() => {
        replaying = undefined;
      });
    return replaying;
  }

  return {
    record,
    replay,
    async start() {
      await spool.open();
      if (spool.names().length > 0) log.info({ count: spool.names().length }, 'spooled generations found');
      const next = (): void => void replay().then(() => timer?.restart());
      timer = timers.after(REPLAY_INTERVAL_MS, next);
      void replay();
    },
    async stop() {
      timer?.cancel();
      timer = undefined;
      await replaying;
      if (spool.names().length > 0) await replay();
      const left = spool.names().length;
      if (left > 0) log.warn({ left }, 'spooled generations are left for the next start');
    },
  };
}

function withoutAnswer(message: GenerationFinished): Uint8Array {
  return GenerationFinished.encode({ ...message, idempotentOutcome: undefined }).finish();
}

function decode(payload: Uint8Array): GenerationFinished | undefined {
  try {
    const message = GenerationFinished.decode(payload);
    return message.generationId === '' || message.organizationId === '' ? undefined : message;
  } catch {
    return undefined;
  }
}
