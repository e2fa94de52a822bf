import { enumNames } from './enum-names';
import { DeadLetterState } from './generated/gateway/events/v1/dead_letters';

export const { messageOf: deadLetterStateMessage, nameOf: deadLetterStateOf } = enumNames({
  waiting: DeadLetterState.DEAD_LETTER_STATE_WAITING,
  redelivering: DeadLetterState.DEAD_LETTER_STATE_REDELIVERING,
  discarded: DeadLetterState.DEAD_LETTER_STATE_DISCARDED,
});
