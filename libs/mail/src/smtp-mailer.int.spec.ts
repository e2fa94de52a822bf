import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { createSmtpMailer } from './smtp-mailer';

/** A server that takes mails as any would, and keeps them. */
async function startServer(options: { refuses?: boolean } = {}) {
  const mails: { from: string; to: string[]; data: string; user: string | undefined }[] = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    authOptional: true,
    onAuth({ username, password }, _session, done) {
      if (username === 'gateway' && password === 'p@ss') done(null, { user: username });
      else done(new Error('refused'));
    },
    onRcptTo(_address, _session, done) {
      done(options.refuses ? new Error('no such box') : null);
    },
    onData(stream, session, done) {
      let data = '';
      stream.setEncoding('utf8').on('data', (chunk: string) => (data += chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const user = session.user as string | undefined;
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          data,
          user,
        });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  const stop = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return { mails, port, stop };
}

const MAIL = {
  to: 'new@example.com',
  subject: 'Invitation to Acmé',
  text: 'A link:\n\nhttps://d.example/x#token\n',
};

describe('mail by SMTP', () => {
  it('is taken by a server, from whom and to whom it was meant, as text', async () => {
    const server = await startServer();
    const url = `smtp://gateway:p%40ss@127.0.0.1:${server.port}`;
    await createSmtpMailer({ url, from: 'Gateway <gateway@example.com>' }).send(MAIL);
    await server.stop();
    expect(server.mails).toMatchObject([
      { from: 'gateway@example.com', to: ['new@example.com'], user: 'gateway' },
    ]);
    expect(server.mails[0]?.data).toMatch(/^Content-Type: text\/plain; charset=utf-8\r$/m);
    expect(server.mails[0]?.data).toContain('https://d.example/x#token');
  });

  it('goes to one address, whatever the text in its place', async () => {
    const server = await startServer();
    const mailer = createSmtpMailer({ url: `smtp://127.0.0.1:${server.port}`, from: 'gateway@example.com' });
    const to = 'a@example.com,b@example.com';
    await mailer.send({ ...MAIL, to }).catch(() => undefined);
    await mailer.send({ ...MAIL, subject: 'x\r\nBcc: c@example.com' });
    await server.stop();
    for (const { to } of server.mails) expect(to).toHaveLength(1);
    expect(server.mails.flatMap(({ to }) => to)).not.toContain('c@example.com');
  });

  it('rejects when it is refused, and when nobody is there', async () => {
    const server = await startServer({ refuses: true });
    const settings = { url: `smtp://127.0.0.1:${server.port}`, from: 'gateway@example.com' };
    await expect(createSmtpMailer(settings).send(MAIL)).rejects.toThrow(/no such box/);
    await server.stop();
    await expect(createSmtpMailer(settings).send(MAIL)).rejects.toThrow();
  });
});
