import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findFreePort } from '@gateway/database';

/** A Prometheus that reads a cluster's metrics every second and evaluates the chart's rules. */
export interface Prometheus {
  /** Alerts that fire now. */
  firing(): Promise<readonly FiringAlert[]>;
  /** The samples of an expression as short lines. */
  query(expression: string): Promise<readonly string[]>;
  stop(): Promise<void>;
}

export interface FiringAlert {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface PrometheusOptions {
  /** The program. */
  readonly program: string;
  readonly directory: string;
  /** `host:port` of the admin servers. */
  readonly targets: readonly string[];
  /** Of the chart. */
  readonly alertsDirectory: string;
  /** By how much windows and waits are shortened. */
  readonly factor: number;
}

const READY_POLL_MS = 200;
const READY_TRIES = 300;

export async function startPrometheus(options: PrometheusOptions): Promise<Prometheus> {
  const { directory, targets, alertsDirectory, factor } = options;
  mkdirSync(directory, { recursive: true });
  for (const file of readdirSync(alertsDirectory)) {
    const rules = readFileSync(path.join(alertsDirectory, file), 'utf8');
    writeFileSync(path.join(directory, file), shortenWindows(rules, factor));
  }
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: [path.join(directory, '*.yaml')],
    scrape_configs: [{ job_name: 'gateway', static_configs: [{ targets }] }],
  };
  const configFile = path.join(directory, 'prometheus.json');
  writeFileSync(configFile, JSON.stringify(config));
  const address = `127.0.0.1:${await findFreePort()}`;
  const child = spawn(
    options.program,
    [
      `--config.file=${configFile}`,
      `--storage.tsdb.path=${path.join(directory, 'data')}`,
      `--web.listen-address=${address}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let complaints = '';
  child.stderr
    .setEncoding('utf8')
    .on('data', (text: string) => (complaints = (complaints + text).slice(-2_000)));
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));

  async function ask<Data>(where: string): Promise<Data> {
    const answer = await fetch(`http://${address}/api/v1/${where}`);
    const { data, error } = (await answer.json()) as { data: Data; error?: string };
    if (error !== undefined) throw new Error(`Prometheus: ${error}`);
    return data;
  }

  for (let tries = 0; ; tries += 1) {
    const answer = await fetch(`http://${address}/-/ready`).catch(() => undefined);
    if (answer?.ok) break;
    if (child.exitCode !== null || tries > READY_TRIES) {
      child.kill('SIGKILL');
      throw new Error(`Prometheus does not start:\n${complaints}`);
    }
    await delay(READY_POLL_MS);
  }
  return {
    async firing() {
      const { alerts } = await ask<{ alerts: { labels: Record<string, string>; state: string }[] }>('alerts');
      return alerts
        .filter(({ state }) => state === 'firing')
        .map(({ labels: { alertname = '', ...labels } }) => ({ name: alertname, labels }));
    },
    async query(expression) {
      type Sample = { metric: Record<string, string>; value: [number, string] };
      const { result } = await ask<{ result: Sample[] }>(
        `query?query=${encodeURIComponent(shortenWindows(expression, factor))}`,
      );
      return result.map(
        ({ metric, value: [, value] }) => `${describeLabels(metric)} ${Number(value).toPrecision(3)}`,
      );
    },
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

const HIDDEN = new Set(['__name__', 'job', 'instance']);

function describeLabels(labels: Readonly<Record<string, string>>): string {
  const told = Object.entries(labels).filter(([name]) => !HIDDEN.has(name));
  return `{${told.map(([name, value]) => `${name}=${value}`).join(', ')}}`;
}

const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;
/** Two samples are the least that a rate is made of. */
const LEAST_S = 3;

/** The rules, or an expression, with every window and every wait shortened; thresholds stay. */
export function shortenWindows(text: string, factor: number): string {
  const shorter = (amount: string, unit: string): string =>
    `${Math.max(LEAST_S, Math.round((Number(amount) * SECONDS[unit as keyof typeof SECONDS]) / factor))}s`;
  return text
    .replace(/\[(\d+)([smhd])\]/g, (_, amount: string, unit: string) => `[${shorter(amount, unit)}]`)
    .replace(/^(\s+for: )(\d+)([smhd])$/gm, (_, before: string, amount: string, unit: string) => {
      return before + shorter(amount, unit);
    });
}
