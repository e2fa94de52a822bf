import type { ToolCallDelta } from '../dialect';
import { JsonText } from './json-text';
import type { ReadToolCall } from './read-message';

/** A tool call in progress, as its server identifies it. */
interface SeenToolCall {
  readonly index: number | undefined;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly arguments: JsonText;
  /** The server sent the name again after complete arguments: further arguments start a new call. */
  isNamedAgain: boolean;
}

/**
 * Numbers the tool calls of each choice from 0. Some servers count the other parts of the message, too. Some give all calls
 * the same index or none, and no ids.
 */
export class ToolCallPositions {
  /** The calls in their order of appearance. */
  private readonly byChoice = new Map<number, SeenToolCall[]>();

  positioned(choice: number, calls: readonly ReadToolCall[]): readonly ToolCallDelta[] {
    if (calls.length === 0) return [];
    const seen = this.byChoice.get(choice) ?? [];
    this.byChoice.set(choice, seen);
    return calls.map((call) => {
      const position = positionOf(call, seen);
      const known = seen[position];
      if (known && !startsNewCall(known, call)) return continued(known, call, position);
      const added: SeenToolCall = {
        index: call.index,
        id: call.id,
        name: call.name ?? known?.name,
        arguments: new JsonText(),
        isNamedAgain: false,
      };
      added.arguments.add(call.arguments);
      return { ...call, name: added.name, index: seen.push(added) - 1 };
    });
  }
}

function continued(known: SeenToolCall, call: ReadToolCall, position: number): ToolCallDelta {
  if (call.name !== undefined && known.arguments.isComplete) known.isNamedAgain = true;
  known.arguments.add(call.arguments);
  return { ...call, index: position };
}

/** @returns the position of the call that the delta continues, or that of the next call. */
function positionOf({ index, id, name }: ReadToolCall, seen: readonly SeenToolCall[]): number {
  if (index === undefined) {
    if (id === undefined) return Math.max(0, seen.length - 1);
    const same = seen.findIndex((call) => call.id === id);
    return same === -1 ? seen.length : same;
  }
  const same = seen.findLastIndex(
    (call) => call.index === index && (id === undefined || call.id === undefined || call.id === id),
  );
  if (same !== -1) return same;
  // Another id alone does not start a call: some servers create one for each delta.
  const latest = seen.findLastIndex((call) => call.index === index);
  return latest !== -1 && name === undefined ? latest : seen.length;
}

/** Whether a delta without an id starts another call, although its index says that it continues the known one. */
function startsNewCall(known: SeenToolCall, { id, name, arguments: text }: ReadToolCall): boolean {
  if (!known.arguments.isComplete || (id !== undefined && id === known.id)) return false;
  if (name !== undefined && known.name !== undefined && name !== known.name) return true;
  // Some servers send an empty object before the real arguments.
  return text.trim() !== '' && !known.arguments.isEmpty && (known.isNamedAgain || name !== undefined);
}
