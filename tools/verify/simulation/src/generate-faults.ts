import type { SeededRandom } from '@gateway/test-support';
import type { Call, Fault, Operation, Step } from './history';

export function singleCall(random: SeededRandom, operation: Operation): Step {
  return { kind: 'calls', calls: [{ ledger: random.pick([1, 2]), operation }] };
}

export function withFault(random: SeededRandom, calls: readonly Call[]): Call[] {
  const broken = random.integer(0, calls.length - 1);
  return calls.map((call, index) =>
    index === broken ? { ...call, fault: faultOf(random, call.operation) } : call,
  );
}

function faultOf(random: SeededRandom, operation: Operation): Fault {
  const kind = random.pick(['lost_response', 'cut', 'terminated_before', 'terminated_after'] as const);
  return { kind, statement: operation.kind === 'settle' ? random.integer(1, 6) : 1 };
}
