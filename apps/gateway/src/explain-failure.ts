import { EmbeddedPostgresError, MigrationError } from '@gateway/database';
import type { Config } from './config';

const PORT_SETTINGS = ['GATEWAY_PORT', 'GATEWAY_DASHBOARD_PORT', 'GATEWAY_ADMIN_PORT'] as const;

/** What a person can mend about a start that failed, without reading a stack; undefined when it is a fault of ours. */
export function explainFailure(error: unknown, config: Config): string | undefined {
  if (error instanceof EmbeddedPostgresError || error instanceof MigrationError) {
    return `The database cannot be used: ${error.message}`;
  }
  const { code, port } = error as { code?: string; port?: number };
  switch (code) {
    case 'EADDRINUSE': {
      const setting = PORT_SETTINGS.find((name) => config[name] === port) ?? PORT_SETTINGS.join(' or ');
      return `Port ${port} is in use. Stop what uses it, or set ${setting} to another one (0 picks a free one).`;
    }
    default:
      return undefined;
  }
}
