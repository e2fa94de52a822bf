import { mailText, nanoUsd, type Mail, type UnixMs } from '@gateway/base';
import type { DueAlert } from '../../core/credit-alert';
import { createAlertPages, type AlertPagesOptions } from './alert-pages';
import { createMailAlertSender } from './mail-alert-sender';

const alert: DueAlert = {
  organizationId: 'org-1',
  thresholdNanoUsd: nanoUsd(5_000_000_000n),
  availableNanoUsd: nanoUsd(2_206_347_268_500n),
  belowSince: Date.UTC(2026, 10, 22) as UnixMs,
  webhookUrl: undefined,
  webhookSecret: undefined,
  emails: ['a@example.com', 'b@example.com'],
};

const pagesWith = (changes: Partial<AlertPagesOptions> = {}) =>
  createAlertPages({
    organizationName: async () => 'Acme & Sons',
    timeZones: async () => ({ 'b@example.com': 'Europe/Berlin' }),
    dashboardUrl: () => 'https://dashboard.example.com',
    ...changes,
  });

async function mailsFor(
  sent: Parameters<ReturnType<typeof createMailAlertSender>['send']>[0],
  pages = pagesWith(),
) {
  const mails: Mail[] = [];
  await createMailAlertSender({ send: async (mail) => void mails.push(mail) }, pages).send(sent);
  return mails;
}

it('names the organization, amounts in cents, the time, the page and what to do, to every address', async () => {
  const mails = await mailsFor(alert);
  expect(mails.map(({ to }) => to)).toEqual(['a@example.com', 'b@example.com']);
  expect(mails[0]?.subject).toBe('Acme & Sons is running low on credit: $2,206.34 left');
  const text = mails[0] && mailText(mails[0]);
  for (const part of [
    'Acme & Sons has $2,206.34 of credit available, which is below the threshold of $5.00.',
    'Below it since: Sun, 22 Nov 2026 00:00:00 UTC',
    'Organization: Acme & Sons (org-1)',
    'https://dashboard.example.com/o/org-1/credit',
    'An operator of the gateway can add credit.',
  ]) {
    expect(text).toContain(part);
  }
});

it('has the time in the time zone of each person and in UTC', async () => {
  const texts = (await mailsFor(alert)).map(mailText);
  expect(texts[0]).toContain('Below it since: Sun, 22 Nov 2026 00:00:00 UTC');
  expect(texts[1]).toContain('Below it since: Sun, 22 Nov 2026 01:00:00 Europe/Berlin (00:00:00 UTC)');
});

it('has the id while the name is unavailable, and no link without the origin of the dashboard', async () => {
  const [mail] = await mailsFor(
    alert,
    pagesWith({
      organizationName: () => Promise.reject(new Error('auth is unavailable')),
      timeZones: () => Promise.reject(new Error('auth is unavailable')),
      dashboardUrl: () => undefined,
    }),
  );
  expect(mail?.subject).toContain('org-1');
  expect(mail?.link).toBeUndefined();
});

it('says of a test that it is one, and nothing about the balance', async () => {
  const { organizationId, webhookUrl, webhookSecret, emails } = alert;
  const [mail] = await mailsFor({
    ...{ organizationId, webhookUrl, webhookSecret, emails },
    testedAt: alert.belowSince,
  });
  expect(mail?.subject).toBe('Test of low-balance alerts of Acme & Sons');
  const text = mail && mailText(mail);
  expect(text).toContain('This is a test.');
  expect(text).not.toContain('$');
});

it('rejects without a mail server, or when it does not accept an email', async () => {
  const without = createMailAlertSender(undefined, pagesWith());
  await expect(without.send(alert)).rejects.toThrow('No mail server is configured');
  await expect(without.send({ ...alert, emails: [] })).resolves.toBeUndefined();
  const refusing = { send: async () => Promise.reject(new Error('550 secret.host no such box')) };
  await expect(createMailAlertSender(refusing, pagesWith()).send(alert)).rejects.toThrow(
    'The mail server did not accept every email.',
  );
});
