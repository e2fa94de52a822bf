import { createHash } from 'node:crypto';
import type { CancelSignal } from '@gateway/base';
import { checkChatBody } from '@gateway/public-api';
import type { CheckBodyPorts } from '../service/chat/check-body';
import type { FaultPlan } from './fault-plan';

/** Checks bodies on the event loop, after the injected faults. */
export function stubBodyThreads(faults: FaultPlan): CheckBodyPorts['bodyThreads'] {
  return {
    check: async ({ chunks, rules, signal }) => {
      await Promise.race([faults.reach('bodies.check'), aborted(signal)]);
      return checkChatBody(Buffer.concat(chunks), rules, (text) =>
        createHash('sha256').update(text).digest(),
      );
    },
    stop: async () => {},
  };
}

function aborted(signal: CancelSignal | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
}
