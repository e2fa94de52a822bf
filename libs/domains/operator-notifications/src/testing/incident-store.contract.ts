import type { Incident, UnixMs } from '@gateway/base';
import type { NotificationTiming } from '../core/incident-rule';
import { MAX_PER_CAUSE_AND_HOUR } from '../core/notification';
import type { IncidentStore } from '../core/ports';

/** Incidents open at once, end in the next decision, and do not open again. */
export const CONTRACT_TIMING: NotificationTiming = {
  currentMs: 60_000,
  openAfterMs: 0,
  recoveredAfterMs: 0,
  reopenAfterMs: 600_000,
  remindAfterMs: 86_400_000,
};

const NEVER = 0 as UnixMs;

const rejected = (subject: string): Incident => ({ cause: 'upstream_config_error', subject, details: 'd' });

/** The duties of every IncidentStore. `open` returns an empty store with CONTRACT_TIMING. */
export function describeIncidentStore(name: string, open: () => Promise<IncidentStore>): void {
  describe(`${name} as an incident store`, () => {
    let store: IncidentStore;
    beforeEach(async () => {
      store = await open();
    });

    it('notifies once of the incidents of a cause, and once of their end', async () => {
      await store.report([rejected('acme/a'), rejected('acme/b'), rejected('acme/a')]);
      const opened = await store.decide(['ops@example.com'], NEVER);
      expect(opened).toMatchObject([{ kind: 'opened', cause: 'upstream_config_error' }]);
      expect(opened[0]?.subjects.map(({ subject }) => subject).sort()).toEqual(['acme/a', 'acme/b']);
      const ended = await store.decide(['ops@example.com'], NEVER);
      expect(ended.map(({ kind }) => kind)).toEqual(['recovered']);
      expect(await store.decide(['ops@example.com'], NEVER)).toEqual([]);
    });

    it('delivers to each recipient once', async () => {
      await store.report([rejected('acme/a')]);
      await store.decide(['ops@example.com', 'webhook', 'webhook'], NEVER);
      const due = await store.claimDue(10);
      expect(due.map(({ recipient }) => recipient).sort()).toEqual(['ops@example.com', 'webhook']);
      expect(await store.claimDue(10)).toEqual([]);
      for (const delivery of due) await store.recordDelivery(delivery, undefined);
      expect(await store.claimDue(10)).toEqual([]);
    });

    it('does not notify of more than the hourly number of a cause', async () => {
      let notified = 0;
      for (let round = 0; round < MAX_PER_CAUSE_AND_HOUR; round += 1) {
        await store.report([rejected(`acme/${round}`)]);
        notified += (await store.decide([], NEVER)).length;
      }
      expect(notified).toBe(MAX_PER_CAUSE_AND_HOUR);
      await store.report([{ cause: 'ledger_mismatch', subject: 'billing-ledger', details: '1' }]);
      const others = await store.decide([], NEVER);
      expect(others.map(({ cause }) => cause)).toEqual(['ledger_mismatch']);
    });
  });
}
