import type { JobCaller } from '@gateway/base';
import type { EdgeProxyPorts } from '../service/module';
import { unlessAborted, type FaultPlan } from './fault-plan';

/** Counts the pages of uncompressed documents on the event loop, after the injected faults. */
export function stubPageThreads(
  faults: FaultPlan,
  countedFor: (JobCaller | undefined)[],
): EdgeProxyPorts['pageThreads'] {
  return {
    count: async (documents, caller) => {
      countedFor.push(caller);
      await unlessAborted(faults.reach('pages.count'), caller?.signal);
      const pages = documents.map(
        (pdf) =>
          Buffer.from(pdf)
            .toString('latin1')
            .match(/\/Type\/Page\b/g)?.length ?? 0,
      );
      const document = pages.indexOf(0);
      return document === -1
        ? { kind: 'counted', documents: pages.map((each) => ({ pages: each, characters: 0 })) }
        : { kind: 'unreadable', document, problem: 'the data is not a PDF document.' };
    },
    stop: async () => {},
  };
}
