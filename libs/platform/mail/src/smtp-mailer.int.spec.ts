import { startMailServer } from '@gateway/test-support';
import { createSmtpMailer } from './smtp-mailer';

const MAIL = {
  to: 'new@example.com',
  subject: 'Invitation to Acmé',
  paragraphs: ['Acmé has invited you.'],
  link: { label: 'A link', url: 'https://d.example/x#token' },
};

describe('email by SMTP', () => {
  it('is delivered as text and HTML with its sender and recipient', async () => {
    const server = await startMailServer();
    const url = `smtp://gateway:p%40ss@127.0.0.1:${server.port}`;
    await createSmtpMailer({ url, from: 'Gateway <gateway@example.com>' }).send(MAIL);
    await server.stop();
    expect(server.mails).toMatchObject([
      { from: 'gateway@example.com', to: ['new@example.com'], user: 'gateway' },
    ]);
    expect(server.mails[0]?.data).toMatch(/^Content-Type: multipart\/alternative;/m);
    expect(server.mails[0]?.data).toMatch(/^Content-Type: text\/plain; charset=utf-8\r$/m);
    expect(server.mails[0]?.data).toMatch(/^Content-Type: text\/html; charset=utf-8\r$/m);
    expect(server.mails[0]?.data).toContain('https://d.example/x#token');
  });

  it('has one recipient, even if the address or subject is malicious', async () => {
    const server = await startMailServer();
    const mailer = createSmtpMailer({ url: `smtp://127.0.0.1:${server.port}`, from: 'gateway@example.com' });
    const to = 'a@example.com,b@example.com';
    await mailer.send({ ...MAIL, to }).catch(() => undefined);
    await mailer.send({ ...MAIL, subject: 'x\r\nBcc: c@example.com' });
    await server.stop();
    for (const { to } of server.mails) expect(to).toHaveLength(1);
    expect(server.mails.flatMap(({ to }) => to)).not.toContain('c@example.com');
  });

  it('rejects when the server refuses it or is unreachable', async () => {
    const server = await startMailServer({ refuses: true });
    const settings = { url: `smtp://127.0.0.1:${server.port}`, from: 'gateway@example.com' };
    await expect(createSmtpMailer(settings).send(MAIL)).rejects.toThrow(/no such mailbox/);
    await server.stop();
    await expect(createSmtpMailer(settings).send(MAIL)).rejects.toThrow();
  });
});
