import { createHash } from 'node:crypto';
import { checkChatBody } from '@gateway/public-api';
import type { CheckBodyPorts } from '../service/chat/check-body';
import { unlessAborted, type FaultPlan } from './fault-plan';

/** Checks bodies on the event loop, after the injected faults. */
export function stubBodyThreads(faults: FaultPlan): CheckBodyPorts['bodyThreads'] {
  return {
    check: async ({ chunks, rules, signal }) => {
      await unlessAborted(faults.reach('bodies.check'), signal);
      return checkChatBody(Buffer.concat(chunks), rules, (text) =>
        createHash('sha256').update(text).digest(),
      );
    },
    stop: async () => {},
  };
}
