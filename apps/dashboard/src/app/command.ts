import type { IconName } from '../ui/icons';

/** An entry of the command palette. */
export interface Command {
  readonly id: string;
  readonly label: string;
  readonly icon: IconName;
  readonly note?: string;
  readonly keys?: string;
  /** The server found it for the text, which its label need not contain. */
  readonly found?: true;
  readonly run: () => void;
}
