import { auditOf, type Clock } from '@gateway/base';
import { newId, type Logger } from '@gateway/runtime';
import type { CatalogueStore, CatalogueTexts } from '../../core/catalogue/managed-catalogue';
import { CatalogueError } from './parse-catalogue';
import type { ProcessSecrets } from './secrets';
import { withStoredSecrets } from './stored-secrets';

export interface ImportModelsFilePorts {
  readonly store: CatalogueStore;
  readonly texts: CatalogueTexts;
  /** The keys that the file names. */
  readonly secrets: ProcessSecrets;
  readonly clock: Clock;
  readonly log: Logger;
}

const SYSTEM = { id: 'system', label: 'system', ipAddress: '' };

/**
 * Publishes a models file as version 1 of an empty database, with its keys as stored secrets. Routers may do so
 * concurrently.
 *
 * @throws CatalogueError for a file with errors.
 */
export async function importModelsFile(text: string, ports: ImportModelsFilePorts): Promise<void> {
  const { store, texts, clock, log } = ports;
  if ((await store.readPublished()).version) return;
  const imported = withStoredSecrets(text, ports.secrets);
  const author = { at: clock.now(), by: SYSTEM.label };
  const audit = (action: string, target: string) =>
    auditOf({ actor: SYSTEM, action, target, details: { from: 'models file' } }, { newId, clock });
  for (const [name, value] of imported.secrets) {
    await store.setSecret(name, value, { ...author, audit: audit('provider_secret.set', name) });
  }
  const outcome = await store.publish(
    {
      source: { kind: 'text', text: imported.text },
      comment: 'Imported from the models file.',
      expectedVersion: 0,
      check: (published, secrets) => texts.check(published, secrets),
    },
    { ...author, auditOf: (version) => audit('catalogue.publish', `version ${version}`) },
  );
  if (outcome.kind === 'invalid') throw new CatalogueError(outcome.issues.map(({ message }) => message));
  if (outcome.kind === 'published') {
    log.info(
      { secrets: imported.secrets.size },
      'the models file was imported as version 1 of the catalogue',
    );
  }
}
