import type { Clock } from '@gateway/base';
import { apiTypeOfFormat } from '@gateway/public-api';
import { createPeriodicTask, type Logger } from '@gateway/runtime';
import { type RefusalBatch, RefusalCounts, type RefusalReporter, limits } from '../../core';
import type { Exchange } from '../http/exchange';
import { errorFormatOf, isGeneration } from '../http/generation-format';

export interface RefusalRecorderPorts {
  readonly reporter: RefusalReporter;
  readonly clock: Clock;
  readonly log: Logger;
  /** A request could not be counted, because too many different ones are. */
  readonly onDropped: (requests: number) => void;
}

export interface RefusalRecorder {
  /** Counts a request for a generation that ended with an error, unless a generation has a record of it. */
  count(exchange: Pick<Exchange, 'requestId' | 'route' | 'report'>): void;
  start(): void;
  /** Sends the remaining counts. */
  stop(): Promise<void>;
}

/**
 * Reports the refused requests of organizations every few seconds, so that any
 * number of them costs a few rows. What was counted since the last report
 * is lost when the process is killed.
 */
export function createRefusalRecorder(
  { reporter, clock, log, onDropped }: RefusalRecorderPorts,
  intervalMs: number,
): RefusalRecorder {
  const counts = new RefusalCounts(limits.refusals);
  const task = createPeriodicTask(flush, intervalMs);
  let reportNumber = 0;
  /** Sent again with the same number until it is recorded. */
  let unconfirmed: RefusalBatch | undefined;

  async function flush(): Promise<void> {
    if (!unconfirmed) {
      unconfirmed = counts.take();
      if (!unconfirmed) return;
      reportNumber += 1;
    }
    try {
      if ((await reporter.report(reportNumber, unconfirmed)) === 'rejected') {
        onDropped(unconfirmed.counts.reduce((sum, { requests }) => sum + requests, 0));
      }
      unconfirmed = undefined;
    } catch (error) {
      log.warn({ err: error, reportNumber }, 'refused requests could not be reported; retrying');
    }
  }

  return {
    count({ requestId, route, report }) {
      const { caller, error, generationRecorded, modelId = '', requestedModel = modelId } = report;
      if (!error || generationRecorded || !caller || !isGeneration(route)) return;
      const { organizationId, keyId, projectId } = caller;
      const counted = counts.add({
        requestId,
        organizationId,
        keyId,
        projectId: projectId ?? '',
        modelId,
        model: requestedModel,
        apiType: apiTypeOfFormat(errorFormatOf(route)),
        errorCode: error.code,
        errorMessage: error.message,
        at: clock.now(),
      });
      if (!counted) onDropped(1);
    },
    start: task.start,
    async stop() {
      await task.stop();
      await flush();
      // The first call may have sent an unconfirmed report.
      if (!unconfirmed) await flush();
    },
  };
}
