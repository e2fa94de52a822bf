import { parseArgs } from 'node:util';
import { writeActorKeys, writeServiceCertificates } from '@gateway/certificates';
import { ADMIN_CALLERS, DEFAULT_IDENTITY_DOMAIN, serviceNames } from '@gateway/contracts/callers';
import { readPodConfig } from './config';
import { createSecretStore } from './kubernetes/secret-store';
import { renewActorKeys } from './kubernetes/renew-actor-keys';
import { renewSecrets } from './kubernetes/renew-secrets';

const HELP = `Usage: certificates --out FOLDER [--services NAMES] [--signers NAMES] [--domain DOMAIN] [--days DAYS]
       certificates --kubernetes PREFIX [--services NAMES] [--signers NAMES] [--domain DOMAIN] [--days DAYS]

Issues the certificates with which the services recognize each other, one per service, and the keys that sign for whom
dashboard-api and demo act.

  --out         writes FOLDER/<service>/{ca.crt,tls.crt,tls.key,actor-public-keys.json}, and actor-signing-keys.json for
                signers; FOLDER/authority is created once and reused, so that running services accept renewed certificates
  --kubernetes  fills the secrets <PREFIX>-<service>-rpc-tls and <PREFIX>-rpc-authority of this pod's namespace; a
                certificate that is valid for more than a third of --days stays as it is. Signing keys are in
                <PREFIX>-<signer>-actor-keys, the public ones in <PREFIX>-actor-public-keys
  --services    names separated by commas; every service by default; "none" issues no certificates
  --signers     services that sign assertions (dashboard-api,demo); a new key every --days, the previous one stays valid
  --domain      certificates name a service as <service>.DOMAIN (${DEFAULT_IDENTITY_DOMAIN})
  --days        lifetime of the services' certificates (90)
`;

const DEFAULT_DAYS = '90';

interface Options {
  readonly out: string | undefined;
  readonly prefix: string | undefined;
  readonly services: readonly string[];
  readonly signers: readonly string[];
  readonly domain: string;
  readonly validDays: number;
}

/** @returns undefined when help is requested. Throws an Error that names the wrong option. */
function readOptions(): Options | undefined {
  const { values } = parseArgs({
    options: {
      out: { type: 'string' },
      kubernetes: { type: 'string' },
      services: { type: 'string', default: serviceNames().join(',') },
      signers: { type: 'string', default: [...ADMIN_CALLERS].join(',') },
      domain: { type: 'string', default: DEFAULT_IDENTITY_DOMAIN },
      days: { type: 'string', default: DEFAULT_DAYS },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const { out, kubernetes: prefix, domain } = values;
  const validDays = Number(values.days);
  if (!Number.isInteger(validDays) || validDays < 1) throw new Error('--days takes a whole number of days');
  if ((out === undefined) === (prefix === undefined)) throw new Error('give either --out or --kubernetes');
  const services = values.services === 'none' ? [] : values.services.split(',');
  const signers = values.signers.split(',');
  const unknownSigners = signers.filter((signer) => !ADMIN_CALLERS.has(signer));
  if (unknownSigners.length > 0)
    throw new Error(`--signers: no signer is named ${unknownSigners.join(' or ')}`);
  const unknown = services.filter((service) => !serviceNames().includes(service));
  if (unknown.length > 0) throw new Error(`--services: no service is named ${unknown.join(' or ')}`);
  return { out, prefix, services, signers, domain, validDays };
}

/** @returns the text to print. */
async function issue({ out, prefix = '', ...options }: Options): Promise<string> {
  if (out !== undefined) {
    await writeServiceCertificates(out, options);
    const { services, signers, validDays: rotationDays } = options;
    await writeActorKeys(out, { services, signers, rotationDays, nowUnixMs: Date.now() });
    return `Certificates of ${options.services.length} services are in ${out}`;
  }
  const store = createSecretStore(readPodConfig());
  const { signers, validDays: rotationDays } = options;
  const renewed = [
    ...(await renewActorKeys(store, { prefix, signers, rotationDays })),
    ...(await renewSecrets(store, { ...options, prefix })),
  ];
  return renewed.length === 0 ? 'No certificate or key is due for renewal' : `Renewed: ${renewed.join(', ')}`;
}

function readOptionsOrExit(): Options | undefined {
  try {
    return readOptions();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${HELP}`);
    process.exit(2);
  }
}

async function main(): Promise<void> {
  const options = readOptionsOrExit();
  process.stdout.write(options === undefined ? HELP : `${await issue(options)}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
