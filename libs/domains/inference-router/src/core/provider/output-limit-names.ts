import { targetKey, type Target } from '../catalogue/model-catalogue';
import type { TargetOptions } from '../dialects/dialect';

type Name = TargetOptions['maxTokensParameter'];

const OTHER: Readonly<Record<Name, Name>> = {
  max_tokens: 'max_completion_tokens',
  max_completion_tokens: 'max_tokens',
};

/** The names of the output limit that targets accept, where the configured one was refused. One entry per target. */
export class OutputLimitNames {
  private readonly learned = new Map<string, Name>();

  /** The options with which the target is called. */
  optionsOf(target: Target): TargetOptions {
    const name = this.learned.get(targetKey(target));
    return name === undefined ? target.options : { ...target.options, maxTokensParameter: name };
  }

  /** The target refused this name: later calls use the other one. */
  refused(target: Target, name: Name): void {
    this.learned.set(targetKey(target), OTHER[name]);
  }
}
