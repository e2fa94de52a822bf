import { nanoUsd, type UnixMs } from '@gateway/base';
import type { DueAlert } from '../../core/credit-alert';
import { createMailAlertSender } from './mail-alert-sender';

const alert: DueAlert = {
  organizationId: 'org-1',
  thresholdNanoUsd: nanoUsd(5_000_000_000n),
  availableNanoUsd: nanoUsd(1n),
  belowSince: Date.UTC(2026, 10, 22) as UnixMs,
  webhookUrl: undefined,
  webhookSecret: undefined,
  emails: ['a@example.com', 'b@example.com'],
};

it('sends the balance, the threshold and the time to every address', async () => {
  const mails: { to: string; text: string }[] = [];
  await createMailAlertSender({ send: async (mail) => void mails.push(mail) }).send(alert);
  expect(mails.map(({ to }) => to)).toEqual(['a@example.com', 'b@example.com']);
  for (const part of ['org-1', '0.000000001 US dollars', 'threshold of 5 ', '2026-11-22T00:00:00.000Z']) {
    expect(mails[0]?.text).toContain(part);
  }
});

it('says of a test that it is one, and nothing about the balance', async () => {
  const mails: { subject: string; text: string }[] = [];
  const { organizationId, webhookUrl, webhookSecret, emails } = alert;
  await createMailAlertSender({ send: async (mail) => void mails.push(mail) }).send({
    ...{ organizationId, webhookUrl, webhookSecret, emails },
    testedAt: alert.belowSince,
  });
  expect(mails[0]?.subject).toBe('Test of low-balance alerts');
  expect(mails[0]?.text).toContain('This is a test.');
  expect(mails[0]?.text).not.toContain('US dollars');
});

it('rejects without a mail server, or when it does not accept an email', async () => {
  await expect(createMailAlertSender(undefined).send(alert)).rejects.toThrow('No mail server is configured');
  await expect(createMailAlertSender(undefined).send({ ...alert, emails: [] })).resolves.toBeUndefined();
  const refusing = { send: async () => Promise.reject(new Error('550 secret.host no such box')) };
  await expect(createMailAlertSender(refusing).send(alert)).rejects.toThrow(
    'The mail server did not accept every email.',
  );
});
