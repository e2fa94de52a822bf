import { createLifecycle } from '@gateway/module';
import {
  collectGarbage,
  createLogger,
  createMetrics,
  renderMetrics,
  type Logger,
  type Registry,
} from '@gateway/runtime';
import { startTelemetry } from '@gateway/telemetry';
import type { Config } from '../config';
import type { Beginning, Order, Report } from './messages';
import { wireWorker } from './wire-worker';

/**
 * The life of a worker, which its main process orders. Signals that a terminal
 * sends to both are left to that one, and without it nothing could be held or
 * settled: a worker ends with it.
 */
export function runWorker(config: Config): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  process.once('disconnect', () => process.exit(1));
  process.on('message', (order: Order) => {
    if (order.kind === 'begin') void serve(config, order.beginning);
  });
}

async function serve(config: Config, beginning: Beginning): Promise<void> {
  const { worker } = beginning;
  const telemetry = await startTelemetry({ serviceName: 'gateway', settings: config });
  const log = createLogger({
    name: `gateway worker ${worker}`,
    level: config.LOG_LEVEL,
    pretty: process.stdout.isTTY === true,
    onLine: telemetry.onLogLine,
  });
  telemetry.reportTo(log);
  endOnFaults(log);
  const metrics = createMetrics({ labels: { process: 'gateway', worker: String(worker) } });
  const life = createLifecycle({ log });
  life.onStop(() => telemetry.stop());
  hearOrders(metrics, async () => {
    await life.stop();
    process.exit(0);
  });
  try {
    const port = await wireWorker({ config, beginning, life, log, metrics });
    collectGarbage();
    report({ kind: 'open', port });
  } catch (error) {
    log.error({ err: error }, 'the worker cannot begin');
    const { message, code, port } = error as NodeJS.ErrnoException & { readonly port?: number };
    report({
      kind: 'failed',
      message,
      ...(code !== undefined && { code }),
      ...(port !== undefined && { port }),
    });
    await life.stop();
    process.exit(1);
  }
}

function hearOrders(metrics: Registry, stop: () => Promise<void>): void {
  process.on('message', (order: Order) => {
    if (order.kind === 'stop') void stop();
    if (order.kind === 'tell_metrics') {
      void renderMetrics(metrics, order.accept).then(({ text }) => {
        report({ kind: 'metrics', question: order.question, text });
      });
    }
  });
}

/** As in the main process: its state can no longer be trusted. It is replaced. */
function endOnFaults(log: Logger): void {
  for (const fault of ['unhandledRejection', 'uncaughtException'] as const) {
    process.on(fault, (error: unknown) => {
      log.fatal({ err: error }, 'a fault that nobody caught');
      process.exit(1);
    });
  }
}

function report(told: Report): void {
  process.send?.(told, () => undefined);
}
