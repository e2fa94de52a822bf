import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { createLogSampler, withTimeout } from '@gateway/base';
import type { BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { GenerationFinished } from '@gateway/contracts/events';
import { GatewayError } from '@gateway/errors';
import { TOPIC_GENERATION_FINISHED, type EventAppender } from '@gateway/events';
import { encodeMessage, type RpcClient } from '@gateway/rpc';
import type { Logger } from '@gateway/runtime';
import type { FinishedGeneration } from '../core/generation/finished-generation';
import { SpoolFullError, type FinishedSpool } from '../core/ports';
import type { GenerationRecorder, Timer, Timers } from '../core/ports';
import { toGenerationFinished } from './messages';

const deflate = promisify(zlib.deflate);

/** The events of one stream that `generation.finished` and the claim store: as text and compressed. */
const MAX_STORED_EVENTS = { characters: 4 * 1024 * 1024, bytes: 256 * 1024 };
/** Timeout of the event log and of the ledger, before the next store is tried, in milliseconds. */
const RECORD_TIMEOUT_MS = 5_000;
/** How long a request with an Idempotency-Key waits for its early settlement, in milliseconds. */
const EARLY_SETTLEMENT_TIMEOUT_MS = 500;
/** How often the spool is replayed, in milliseconds. */
const REPLAY_INTERVAL_MS = 5_000;

/** Sent at once by a replay: this many records, and further ones only up to this size. */
const REPLAY_BATCH = { records: 64, bytes: 1024 * 1024 };

/**
 * A replay ends after this many consecutive failures of single records, since the others would most
 * likely fail, too. More than one, because a single record may be the problem.
 */
const MAX_CONSECUTIVE_FAILURES = 2;
/** One log line per store and interval. */
const REFUSAL_LOG_INTERVAL_MS = 5_000;

/** Where a finished generation was stored; `lost` when every store failed. */
export type StoredIn = 'event_log' | 'ledger' | 'spool' | 'lost';

export interface GenerationRecorderPorts {
  readonly events: EventAppender;
  readonly ledger: RpcClient<typeof BillingLedgerDefinition>;
  readonly spool: FinishedSpool;
  readonly timers: Timers;
  readonly log: Logger;
  readonly onStored: (where: StoredIn) => void;
  readonly onReplayed: () => void;
}

export interface SpoolingRecorder extends GenerationRecorder {
  /** Opens the spool and starts to replay it. */
  start(): Promise<void>;
  /** Whether the spool could store another generation. */
  isReady(): boolean;
  /** Replays the spool once more, then stops. */
  stop(): Promise<void>;
  /** Sends every spooled generation to the event log, or else to the ledger. */
  replay(): Promise<void>;
}

interface SpooledGeneration {
  readonly name: string;
  readonly payload: Uint8Array;
  readonly message: GenerationFinished;
}

/**
 * Records finished generations durably: in the event log, else by settling with the
 * ledger directly, else in the spool, from which they are replayed. A store that
 * timed out may have succeeded; settlement is idempotent per generation id.
 */
export function createGenerationRecorder(ports: GenerationRecorderPorts): SpoolingRecorder {
  const { events, ledger, spool, timers, log } = ports;
  let timer: Timer | undefined;
  let replaying: Promise<void> | undefined;
  /** A replay of the timer, and the check of the disk after it. */
  let round: Promise<void> | undefined;
  const sampler = createLogSampler(() => performance.now(), { everyMs: REFUSAL_LOG_INTERVAL_MS });

  async function record(finished: FinishedGeneration): Promise<void> {
    const events = finished.stored?.events;
    const message = toGenerationFinished(
      finished,
      events === undefined ? undefined : await compressed(events),
    );
    const payload = encodeMessage(GenerationFinished, message);
    const { generationId } = message;
    const where = await store(message, payload, finished.traceHeaders);
    ports.onStored(where);
    if (where === 'event_log' && message.endedClaim) await settleEarly(message);
    if (where !== 'lost') return;
    // The last resort: the log line has everything that the ledger needs, but not the response.
    log.fatal(
      { generation: Buffer.from(withoutResponse(message)).toString('base64') },
      'a finished generation could not be stored; settle it manually',
    );
    throw new GatewayError('internal_error', { internalMessage: `${generationId} could not be stored` });
  }

  /**
   * Settles a request with an Idempotency-Key before its event is consumed, so that the
   * client can replay the response immediately. Optional: the event settles it otherwise.
   */
  async function settleEarly(message: GenerationFinished): Promise<void> {
    const { generationId } = message;
    try {
      await ledger.settleGenerations({ generations: [message] }, { timeoutMs: EARLY_SETTLEMENT_TIMEOUT_MS });
    } catch (error) {
      log.debug(
        { err: error, generationId },
        'early settlement failed; the event will settle the generation',
      );
    }
  }

  async function store(
    message: GenerationFinished,
    payload: Uint8Array,
    headers: Readonly<Record<string, string>>,
  ): Promise<StoredIn> {
    const { generationId, organizationId } = message;
    try {
      await append([{ key: organizationId, payload, headers }]);
      return 'event_log';
    } catch (error) {
      logRefused('the event log did not accept a finished generation', error, generationId);
    }
    try {
      await ledger.settleGenerations({ generations: [message] }, { timeoutMs: RECORD_TIMEOUT_MS });
      return 'ledger';
    } catch (error) {
      logRefused('the ledger did not accept a finished generation', error, generationId);
    }
    try {
      await spool.put(generationId, payload).catch((error: unknown) => {
        // The charge matters more than the replay of the response.
        if (!(error instanceof SpoolFullError) || !message.endedClaim) throw error;
        return spool.put(generationId, withoutResponse(message));
      });
      return 'spool';
    } catch (error) {
      log.error({ err: error, generationId }, 'the spool did not accept a finished generation');
      return 'lost';
    }
  }

  /** Sampled: while a store is unavailable, every generation is refused. */
  function logRefused(message: string, error: unknown, generationId: string): void {
    const suppressed = sampler.sample(message);
    if (suppressed !== undefined) log.warn({ err: error, generationId, suppressed }, message);
  }

  function append(finished: Parameters<EventAppender['append']>[1]) {
    const appending = events.append(TOPIC_GENERATION_FINISHED, finished);
    return withTimeout(appending, RECORD_TIMEOUT_MS, 'appending a finished generation');
  }

  /** The last record of the previous replay; the next one starts after it. */
  let lastReplayed: string | undefined;

  async function replayAll(): Promise<void> {
    const names = spool.names();
    const start = lastReplayed === undefined ? 0 : names.indexOf(lastReplayed) + 1;
    const left = [...names.slice(start), ...names.slice(0, start)];
    while (left.length > 0) {
      const { batch, isDiskBroken } = await readBatch(left);
      if (batch.length > 0 && !(await send(batch)) && !(await sendOneByOne(batch))) return;
      if (isDiskBroken) return;
    }
  }

  /** Reads the next records, and removes their names from those that are left. */
  async function readBatch(left: string[]) {
    const batch: SpooledGeneration[] = [];
    let bytes = 0;
    let consecutiveFailures = 0;
    while (
      left.length > 0 &&
      batch.length < REPLAY_BATCH.records &&
      bytes < REPLAY_BATCH.bytes &&
      consecutiveFailures < MAX_CONSECUTIVE_FAILURES
    ) {
      lastReplayed = left.shift() ?? '';
      try {
        const found = await readOne(lastReplayed);
        consecutiveFailures = 0;
        if (!found) continue;
        batch.push(found);
        bytes += found.payload.length;
      } catch (error) {
        consecutiveFailures += 1;
        log.error({ err: error, name: lastReplayed }, 'a spooled generation could not be read');
      }
    }
    return { batch, isDiskBroken: consecutiveFailures >= MAX_CONSECUTIVE_FAILURES };
  }

  async function readOne(name: string): Promise<SpooledGeneration | undefined> {
    const payload = await spool.read(name);
    const message = decode(payload);
    if (message) return { name, payload, message };
    log.error({ name }, 'a spooled generation is unreadable and was set aside');
    await spool.setAside(name);
    return undefined;
  }

  /** One record may be why the batch was refused. @returns false when the others would most likely fail, too. */
  async function sendOneByOne(batch: readonly SpooledGeneration[]): Promise<boolean> {
    let consecutiveFailures = 0;
    for (const one of batch) {
      consecutiveFailures = (await send([one])) ? 0 : consecutiveFailures + 1;
      if (consecutiveFailures >= MAX_CONSECUTIVE_FAILURES) return false;
    }
    return true;
  }

  /** @returns false when no store accepted all of them. */
  async function send(batch: readonly SpooledGeneration[]): Promise<boolean> {
    lastReplayed = batch.at(-1)?.name;
    const events = batch.map(({ message, payload }) => ({
      key: message.organizationId,
      payload,
      headers: {},
    }));
    try {
      await append(events);
    } catch {
      try {
        const generations = batch.map(({ message }) => message);
        await ledger.settleGenerations({ generations }, { timeoutMs: RECORD_TIMEOUT_MS });
      } catch {
        return false;
      }
    }
    for (const { name } of batch) {
      await spool.remove(name);
      ports.onReplayed();
    }
    return true;
  }

  /** Whether the last check found that the spool could store a generation. */
  let couldStore = true;

  async function checkSpool(): Promise<void> {
    const error = await spool.checkDisk();
    const canStore = spool.hasSpace();
    if (canStore !== couldStore) {
      if (canStore) log.info('the spool accepts generations again');
      else log.error({ err: error, bytes: spool.bytes() }, 'the spool accepts no generations: not ready');
    }
    couldStore = canStore;
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
    reserve: () => spool.reserve(),
    isReady: () => spool.hasSpace(),
    async start() {
      await spool.open();
      await checkSpool();
      if (spool.names().length > 0) log.info({ count: spool.names().length }, 'spooled generations found');
      const next = (): void => {
        round = replay()
          .then(checkSpool)
          .then(() => timer?.restart());
      };
      timer = timers.after(REPLAY_INTERVAL_MS, next);
      void replay();
    },
    async stop() {
      timer?.cancel();
      timer = undefined;
      await round;
      await replaying;
      if (spool.names().length > 0) await replay();
      const remaining = spool.names().length;
      if (remaining > 0) log.warn({ remaining }, 'spooled generations remain for the next start');
      await spool.close();
    },
  };
}

/** @returns undefined for events that are too large to store: the finished stream cannot be continued then. */
async function compressed(events: string): Promise<Buffer | undefined> {
  if (events.length > MAX_STORED_EVENTS.characters) return undefined;
  const bytes = await deflate(events);
  return bytes.length <= MAX_STORED_EVENTS.bytes ? bytes : undefined;
}

function withoutResponse(message: GenerationFinished): Uint8Array {
  return GenerationFinished.encode({ ...message, endedClaim: undefined }).finish();
}

function decode(payload: Uint8Array): GenerationFinished | undefined {
  try {
    const message = GenerationFinished.decode(payload);
    return message.generationId === '' || message.organizationId === '' ? undefined : message;
  } catch {
    return undefined;
  }
}
