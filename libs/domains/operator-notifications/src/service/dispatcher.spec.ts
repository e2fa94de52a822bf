import type { Incident } from '@gateway/base';
import type { Logger } from '@gateway/runtime';
import { createTestClock, eventually } from '@gateway/test-support';
import { createMemoryIncidentStore } from '../adapters/memory/incident-store';
import { DEFAULT_TIMING } from '../core/incident-rule';
import type { NotificationAdminStore, NotificationSettings } from '../core/ports';
import { createDispatcher, recipientsOf } from './dispatcher';

const incident: Incident = {
  cause: 'dead_letters',
  subject: 'generation.finished',
  details: '1 dead letter',
};
const settings: NotificationSettings = {
  emailEnabled: true,
  extraEmails: ['team@example.com'],
  webhook: { url: 'https://hooks.example.com/x', secret: 's' },
};

describe('the recipients', () => {
  const recipients = { settings, operatorEmails: ['ops@example.com'] };

  it('are the operators, further addresses and the webhook', () => {
    expect(recipientsOf(recipients, true)).toEqual(['ops@example.com', 'team@example.com', 'webhook']);
  });

  it('have no email address without a mail server, or when email is off', () => {
    expect(recipientsOf(recipients, false)).toEqual(['webhook']);
    const off = { ...recipients, settings: { ...settings, emailEnabled: false } };
    expect(recipientsOf(off, true)).toEqual(['webhook']);
  });
});

it('an incident is one error in the log while it lasts, also without a recipient', async () => {
  const clock = createTestClock();
  const errors: string[] = [];
  let rounds = 0;
  const open = () => {
    let ids = 0;
    return createMemoryIncidentStore({ clock, timing: DEFAULT_TIMING, newId: () => `ntf-${(ids += 1)}` });
  };
  const stored = open();
  const noRecipient = { emailEnabled: false, extraEmails: [], webhook: undefined };
  const admin: Pick<NotificationAdminStore, 'readRecipients' | 'addSent'> = {
    async readRecipients() {
      await stored.report([incident]);
      clock.advance(10_000);
      rounds += 1;
      return { settings: noRecipient, operatorEmails: [] };
    },
    addSent: async () => undefined,
  };
  const log = { error: (_fields: object, text: string) => errors.push(text), warn: () => undefined };
  const dispatcher = createDispatcher({
    stored,
    memory: open(),
    admin: admin as NotificationAdminStore,
    sender: { send: () => Promise.reject(new Error('there is no recipient')) },
    sendsMail: false,
    clock,
    log: log as unknown as Logger,
    intervalMs: 1,
  });
  dispatcher.start();
  await eventually('rounds after the notification', async () => (rounds >= 20 ? true : undefined));
  await dispatcher.stop();
  expect(errors).toEqual(['Events could not be processed']);
});
