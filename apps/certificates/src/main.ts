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

async function main(): Promise<void> {
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
  if (values.help) return void process.stdout.write(HELP);
  const { out, kubernetes: prefix, domain } = values;
  const validDays = Number(values.days);
  if (!Number.isInteger(validDays) || validDays < 1) throw new Error('--days takes a whole number of days');
  if ((out === undefined) === (prefix === undefined)) throw new Error('give either --out or --kubernetes');
  const options = { services: servicesIn(values.services), domain, validDays };
  if (out !== undefined) {
    await writeServiceCertificates(out, options);
    process.stdout.write(`Certificates of ${options.services.length} services are in ${out}\n`);
  } else if (prefix !== undefined) {
    const renewed = await renewSecrets(createSecretStore(readPodConfig()), { ...options, prefix });
    process.stdout.write(
      renewed.length === 0 ? 'No certificate is due for renewal\n' : `Renewed: ${renewed.join(', ')}\n`,
    );
  }
}

function servicesIn(list: string): readonly string[] {
  const services = list.split(',');
  const unknown = services.filter((service) => !serviceNames().includes(service));
  if (unknown.length > 0) throw new Error(`--services: no service is named ${unknown.join(' or ')}`);
  return services;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
  process.exitCode = 2;
});
