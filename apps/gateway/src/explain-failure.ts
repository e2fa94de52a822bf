import { EmbeddedPostgresError, FolderLockedError, MigrationError } from '@gateway/database';
import type { Config } from './config';

const PORT_SETTINGS = ['GATEWAY_PORT', 'GATEWAY_DASHBOARD_PORT', 'GATEWAY_ADMIN_PORT'] as const;

/** A message for a failed start that the operator can fix; undefined for a bug. */
export function explainFailure(error: unknown, config: Config): string | undefined {
  if (error instanceof EmbeddedPostgresError || error instanceof MigrationError) {
    return `The database cannot be used: ${error.message}`;
  }
  if (error instanceof FolderLockedError) return `The state folder cannot be used: ${error.message}`;
  const { code, port } = error as { code?: string; port?: number };
  switch (code) {
    case 'EADDRINUSE': {
      const setting = PORT_SETTINGS.find((name) => config[name] === port) ?? PORT_SETTINGS.join(' or ');
      return `Port ${port} is already in use. Stop the other process, or set ${setting} to another port (0 picks a free one).`;
    }
    default:
      return undefined;
  }
}
