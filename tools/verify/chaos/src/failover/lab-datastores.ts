import type { ensureDatabases } from '@gateway/cluster';

/** In place of the cluster's own single servers. */
export interface LabDatastores {
  readonly redisUrl?: string;
  readonly brokers?: string;
  readonly postgres?: LabPostgres;
}

export interface LabPostgres {
  /** The services' URLs, with all servers. */
  readonly databases: Awaited<ReturnType<typeof ensureDatabases>>;
  /** A superuser's URL of the current primary. */
  readonly adminUrl: () => string;
}
