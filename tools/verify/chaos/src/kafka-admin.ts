import { connectKafka } from '@gateway/events/kafka';
import { createSilentLogger } from '@gateway/runtime';
import type { Admin } from 'kafkajs';

const log = createSilentLogger();

/** Connects to the brokers, a list separated by commas, for the duration of the work. */
export async function withKafkaAdmin<Result>(
  brokers: string,
  work: (admin: Admin) => Promise<Result>,
): Promise<Result> {
  const admin = connectKafka({ brokers: brokers.split(',') }, 'chaos', log).admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}
