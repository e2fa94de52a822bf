import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface ReceivedEmail {
  readonly from: string;
  readonly to: readonly string[];
  /** The message including its headers. */
  readonly data: string;
  /** The authenticated SMTP user. */
  readonly user: string | undefined;
}

/** Starts an SMTP server that stores received emails; the user "gateway" has the password "p@ss". */
export async function startMailServer(options: { readonly refuses?: boolean } = {}) {
  const mails: ReceivedEmail[] = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    authOptional: true,
    onAuth({ username, password }, _session, done) {
      if (username === 'gateway' && password === 'p@ss') done(null, { user: username });
      else done(new Error('refused'));
    },
    onRcptTo(_address, _session, done) {
      done(options.refuses ? new Error('no such mailbox') : null);
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
