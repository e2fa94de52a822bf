import { parseArgs } from 'node:util';
import { writeServiceCertificates } from '@gateway/certificates';
import { DEFAULT_IDENTITY_DOMAIN, serviceNames } from '@gateway/contracts/callers';
import { readPodConfig } from './config';
import { createSecretStore } from './kubernetes/secret-store';
import { renewSecrets } from './kubernetes/renew-secrets';

const HELP = `Usage: certificates --out FOLDER [--services NAMES] [--domain DOMAIN] [--days DAYS]
       certificates --kubernetes PREFIX [--services NAMES] [--domain DOMAIN] [--days DAYS]

Issues the certificates with which the services recognize each other, one per service.

  --out         writes FOLDER/<service>/{ca.crt,tls.crt,tls.key}; FOLDER/authority is created once and reused, so that
                running services accept renewed certificates
  --kubernetes  fills the secrets <PREFIX>-<service>-rpc-tls and <PREFIX>-rpc-authority of this pod's namespace; a
                certificate that is valid for more than a third of --days stays as it is
  --services    names separated by commas; every service by default
  --domain      certificates name a service as <service>.DOMAIN (${DEFAULT_IDENTITY_DOMAIN})
  --days        lifetime of the services' certificates (90)
`;

const DEFAULT_DAYS = '90';

interface Options {
  readonly out: string | undefined;
  readonly prefix: string | undefined;
  readonly services: readonly string[];
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
  const services = values.services.split(',');
  const unknown = services.filter((service) => !serviceNames().includes(service));
  if (unknown.length > 0) throw new Error(`--services: no service is named ${unknown.join(' or ')}`);
  return { out, prefix, services, domain, validDays };
}

/** @returns the text to print. */
async function issue({ out, prefix = '', ...options }: Options): Promise<string> {
  if (out !== undefined) {
    await writeServiceCertificates(out, options);
    return `Certificates of ${options.services.length} services are in ${out}`;
  }
  const renewed = await renewSecrets(createSecretStore(readPodConfig()), { ...options, prefix });
  return renewed.length === 0 ? 'No certificate is due for renewal' : `Renewed: ${renewed.join(', ')}`;
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
