import { createChatClient, isServed, startTraffic, type Attempt, type Tenant } from '@gateway/load';
import { type AdminClient, createTenant, seededRandom, signIn } from '@gateway/test-support';
import type { Access } from './access';
import type { Release } from './release';

/** A model of the demo. */
const MODEL = 'demo/standard';
const CREDIT_USD = '1000';
const TENANTS = ['first', 'second', 'third'];

/** Clients' results during a step. */
export interface ClientResults {
  readonly requests: number;
  /** By error code, or by outcome for requests without a response. */
  readonly errors: Readonly<Record<string, number>>;
  /** Responses that violate the API: no error envelope, an unknown code. */
  readonly invalid: readonly string[];
}

/** Load from separate organizations, and its outcomes. */
export class Load {
  readonly attempts: Attempt[] = [];
  readonly model = MODEL;
  private count = 0;

  private constructor(
    private readonly baseUrl: string,
    private readonly rate: number,
    readonly dashboard: AdminClient,
    readonly tenants: readonly Tenant[],
  ) {}

  static async open(release: Release, { apiUrl, dashboardUrl }: Access, rate: number): Promise<Load> {
    const { adminEmail, adminPassword } = await release.login();
    const dashboard = await signIn(dashboardUrl, adminEmail, adminPassword);
    const tenants: Tenant[] = [];
    for (const name of TENANTS)
      tenants.push({ name, ...(await createTenant(dashboard, { name, credit: CREDIT_USD })) });
    return new Load(`${apiUrl}/v1`, rate, dashboard, tenants);
  }

  /**
   * Sends requests to the edge until `work` has finished.
   *
   * @param ingressUrl of a controller, instead of the forwarded port
   */
  async during(work: () => Promise<void>, ingressUrl?: string): Promise<ClientResults> {
    this.count += 1;
    // `kubectl port-forward` closes a connection only a second after the server has closed it. A request that is sent on
    // it in the meantime would be lost.
    const closesConnections = ingressUrl === undefined;
    const client = createChatClient(ingressUrl ?? this.baseUrl, MODEL, { closesConnections });
    const traffic = startTraffic({
      client,
      tenants: this.tenants,
      random: seededRandom(this.count),
      name: `load${this.count}`,
      rate: this.rate,
    });
    try {
      await work();
    } finally {
      await traffic.stop();
      await client.close();
      this.attempts.push(...traffic.attempts);
    }
    return summarize(traffic.attempts);
  }
}

export function summarize(attempts: readonly Attempt[]): ClientResults {
  const errors: Record<string, number> = {};
  for (const attempt of attempts.filter((each) => !isServed(each))) {
    const name = attempt.code ?? attempt.outcome;
    errors[name] = (errors[name] ?? 0) + 1;
  }
  const invalid = attempts.flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
  return { requests: attempts.length, errors, invalid };
}
