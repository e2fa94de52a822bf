import { startPostgresPrimary, startPostgresStandby, type PostgresNode } from './postgres-node';

/** A primary and its standbys, which take over in turn. */
export interface PostgresGroup {
  readonly servers: readonly PostgresNode[];
  primary(): PostgresNode;
  /** `host:port` of every server, for URLs with several hosts. */
  readonly hosts: string;
  /** Shuts the primary down, promotes a standby, and makes the old primary its standby. Loses nothing. */
  switchOver(): Promise<void>;
  /** Promotes the standby that has received most. The old primary, dead or silent, is not part of the group any more. */
  failOver(): Promise<void>;
  /** Stops servers that do not follow the primary, and rebuilds them as its standbys. */
  rejoin(): Promise<void>;
  stop(): Promise<void>;
}

export interface PostgresGroupOptions {
  readonly standbys: number;
  /** Each commit waits for any one of the standbys. */
  readonly synchronous?: boolean;
}

export async function startPostgresGroup({
  standbys,
  synchronous = false,
}: PostgresGroupOptions): Promise<PostgresGroup> {
  const names = Array.from({ length: standbys + 1 }, (_, index) => `postgres_${index + 1}`);
  const settings: Record<string, string> = synchronous
    ? { synchronous_standby_names: `ANY 1 (${names.join(', ')})` }
    : {};
  const servers: PostgresNode[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.stop()));
  };
  try {
    const first = await startPostgresPrimary({ name: names[0] as string, settings });
    servers.push(first);
    for (const name of names.slice(1)) servers.push(await startPostgresStandby(first, name, { settings }));
    return createGroup(servers, first, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

function createGroup(
  servers: readonly PostgresNode[],
  first: PostgresNode,
  stop: () => Promise<void>,
): PostgresGroup {
  let primary = first;
  let followers = servers.filter((server) => server !== first);

  /** Standbys follow the new primary before it is one: a synchronous commit waits for them. */
  async function promote(chosen: PostgresNode): Promise<void> {
    primary = chosen;
    followers = followers.filter((server) => server !== chosen);
    await chosen.promote();
    await Promise.all(followers.map((server) => server.follow(chosen)));
  }

  return {
    servers,
    primary: () => primary,
    hosts: servers.map(({ port }) => `127.0.0.1:${port}`).join(','),
    async switchOver() {
      const old = primary;
      await old.shutDown();
      await promote(await mostAdvanced(followers));
      await old.follow(primary);
      followers.push(old);
    },
    async failOver() {
      await promote(await mostAdvanced(followers));
    },
    async rejoin() {
      for (const server of servers) {
        if (server === primary || followers.includes(server)) continue;
        await server.rebuildFrom(primary);
        followers.push(server);
      }
    },
    stop,
  };
}

async function mostAdvanced(standbys: readonly PostgresNode[]): Promise<PostgresNode> {
  const positions = await Promise.all(
    standbys.map(async (server) => {
      const [row] = await server.query<{ received: string }>(
        `select (pg_last_wal_receive_lsn() - '0/0')::text as received`,
      );
      return { server, received: BigInt(row?.received ?? 0) };
    }),
  );
  const [best] = positions.sort((a, b) => (a.received < b.received ? 1 : -1));
  if (best === undefined) throw new Error('the group has no standby');
  return best.server;
}
