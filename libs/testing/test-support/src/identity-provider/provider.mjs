// A real OpenID provider for tests. It runs in its own process because it ships as ES modules, and to isolate its output
// and global state. It prints its port and exits with its parent process.
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const { issuer, clientId, clientSecret, redirectUris } = JSON.parse(process.argv[2]);

const emails = new Map();

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: redirectUris,
      response_types: ['code'],
      grant_types: ['authorization_code'],
      // Native clients choose their ports, so the port of a loopback redirect URI is ignored (RFC 8252).
      application_type: 'native',
    },
  ],
  pkce: { required: () => true },
  scopes: ['openid', 'email', 'profile'],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
  // Any login is accepted. The login is the subject and, unless a test sets another one, the email; "Ada <ada@…>" also has
  // a name.
  findAccount: (_context, accountId) => {
    const [, unverified, name, address, login = address] = /^(unverified )?(?:(.*) <(.*)>|(.*))$/.exec(
      accountId,
    );
    const email = emails.get(login) ?? login;
    const claims = { sub: accountId, email, email_verified: unverified === undefined, name };
    return { accountId, claims: () => claims };
  },
  cookies: { keys: ['only for tests'] },
  ttl: { AccessToken: 60, AuthorizationCode: 60, IdToken: 60, Interaction: 600, Session: 600, Grant: 600 },
});
// The issuer URL may be a proxy that alters responses.
provider.proxy = true;

const server = createServer(provider.callback());
server.listen(0, '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
process.on('message', ({ login, email }) => {
  emails.set(login, email);
  process.send('saved');
});
process.on('disconnect', () => process.exit(0));
