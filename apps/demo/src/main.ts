import { DEFAULT_IDENTITY_DOMAIN } from '@gateway/contracts/callers';
import { parseArgs } from 'node:util';
import { AuthAdminDefinition, AuthDefinition } from '@gateway/contracts/auth';
import { BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { introduce } from '@gateway/demo';
import { createActingTransport, createClient } from '@gateway/rpc';
import { openActorSigner, openTlsFolder } from '@gateway/process';
import { createReplicatedTransport } from '@gateway/rpc/grpc';
import { createLogger } from '@gateway/runtime';

const HELP = `demo --auth HOST:PORT --billing-ledger HOST:PORT --state-dir FOLDER --actor-keys-dir FOLDER [--rpc-tls-dir FOLDER]
     [--rpc-tls-domain DOMAIN] [--base-url URL] [--dashboard-url URL] [--stay]

Sets up a cluster for trial use: an operator with a password, and an organization with credit and an API key. Stores
them in FOLDER/dev.json for the next run, and prints them at a terminal. With --stay the process runs until it is
stopped, so that the folder can be read when it is mounted only here. --rpc-tls-dir holds the
certificate of the caller "demo"; without it calls are plain text. --actor-keys-dir holds the keys with which it signs
that it acts as the operator.
`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      auth: { type: 'string' },
      'billing-ledger': { type: 'string' },
      'state-dir': { type: 'string' },
      stay: { type: 'boolean', default: false },
      'actor-keys-dir': { type: 'string' },
      'rpc-tls-dir': { type: 'string' },
      'rpc-tls-domain': { type: 'string', default: DEFAULT_IDENTITY_DOMAIN },
      'base-url': { type: 'string', default: 'http://127.0.0.1:8080/v1' },
      'dashboard-url': { type: 'string', default: 'http://127.0.0.1:8081' },
    },
  });
  const { auth: authTarget, 'billing-ledger': ledgerTarget, 'state-dir': stateDirectory } = values;
  const { 'actor-keys-dir': keysFolder } = values;
  if (
    authTarget === undefined ||
    ledgerTarget === undefined ||
    stateDirectory === undefined ||
    keysFolder === undefined
  ) {
    throw new Error('--auth, --billing-ledger, --state-dir and --actor-keys-dir are required');
  }
  const signer = openActorSigner(keysFolder, 'demo');
  const { 'rpc-tls-dir': tlsFolder, 'rpc-tls-domain': domain } = values;
  const tls = tlsFolder === undefined ? undefined : openTlsFolder(tlsFolder, domain);
  const connect = (service: string, target: string) =>
    createReplicatedTransport({
      target,
      ...(tls && { tls: () => tls.clientTls(service) }),
    });
  const auth = connect('auth', authTarget);
  const ledger = connect('billing-ledger', ledgerTarget);
  try {
    const demo = await introduce({
      clients: {
        auth: createClient(AuthDefinition, auth),
        authAdmin: createClient(
          AuthAdminDefinition,
          createActingTransport(auth, { audience: 'auth', signer }),
        ),
        billingLedger: createClient(
          BillingLedgerDefinition,
          createActingTransport(ledger, { audience: 'billing-ledger', signer }),
        ),
      },
      stateDirectory,
      baseUrl: values['base-url'],
      dashboardUrl: values['dashboard-url'],
      log: createLogger({ name: 'demo', level: 'info', pretty: false }),
    });
    // Output that is not a terminal may be a stored log, so it gets no secrets.
    const output = process.stdout.isTTY
      ? JSON.stringify(demo, null, 2)
      : `The login and the API key are in ${stateDirectory}/dev.json. Run this at a terminal to print them.`;
    process.stdout.write(`${output}\n`);
  } finally {
    auth.close();
    ledger.close();
  }
  if (values.stay) await untilStopped();
}

function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    const keepAlive = setInterval(() => undefined, 60_000);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        clearInterval(keepAlive);
        resolve();
      });
    }
  });
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
  process.exitCode = 2;
});
