import { enumNames } from './enum-names';
import { IdempotentEnding } from './generated/gateway/events/v1/generation_finished';

export const { messageOf: idempotentEndingMessage, nameOf: idempotentEndingOf } = enumNames({
  refused: IdempotentEnding.IDEMPOTENT_ENDING_REFUSED,
  completed: IdempotentEnding.IDEMPOTENT_ENDING_COMPLETED,
  failed: IdempotentEnding.IDEMPOTENT_ENDING_FAILED,
  cancelled: IdempotentEnding.IDEMPOTENT_ENDING_CANCELLED,
  unknown: IdempotentEnding.IDEMPOTENT_ENDING_UNKNOWN,
});
