// A real OpenID provider for tests, in a process of its own: it is written as ES modules and for the web, and whatever
// it prints or keeps is none of the tests' business. Prints the port that it listens on; ends with
// whoever started it.
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
      // Programs of one machine pick their ports, which then count for nothing in the address to come back to.
      application_type: 'native',
    },
  ],
  pkce: { required: () => true },
  scopes: ['openid', 'email'],
  claims: { openid: ['sub'], email: ['email', 'email_verified'] },
  // Whoever comes is who they say: the login is the provider's name of the person, and their email unless told otherwise.
  findAccount: (_context, accountId) => {
    const [, unverified, login] = /^(unverified )?(.*)$/.exec(accountId);
    const email = emails.get(login) ?? login;
    const claims = { sub: accountId, email, email_verified: unverified === undefined };
    return { accountId, claims: () => claims };
  },
  cookies: { keys: ['only for tests'] },
  ttl: { AccessToken: 60, AuthorizationCode: 60, IdToken: 60, Interaction: 600, Session: 600, Grant: 600 },
});
// The issuer may be a proxy in front, which a test puts there to meddle.
provider.proxy = true;

const server = createServer(provider.callback());
server.listen(0, '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
process.on('message', ({ login, email }) => {
  emails.set(login, email);
  process.send('noted');
});
process.on('disconnect', () => process.exit(0));
