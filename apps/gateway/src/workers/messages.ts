/** What a worker has to know that it does not find in its environment. */
export interface Beginning {
  /** From one to the number of workers; who replaces one that died has its number. */
  readonly worker: number;
  readonly workers: number;
  /** Where the main process serves what is there once: auth, limits, ledger, usage. */
  readonly socketPath: string;
  /** With its password: by message, since an environment can be read by others. */
  readonly databaseUrl: string;
  readonly emulatorUrl: string | undefined;
  readonly dashboardPort: number;
  readonly spoolDirectory: string;
}

/** From the main process to a worker. */
export type Order =
  | { readonly kind: 'begin'; readonly beginning: Beginning }
  | { readonly kind: 'tell_metrics'; readonly question: number; readonly accept: string | undefined }
  | { readonly kind: 'stop' };

/** From a worker to the main process. */
export type Report =
  | { readonly kind: 'open'; readonly port: number }
  /** It could not begin; what a person can mend has a code, such as EADDRINUSE. */
  | { readonly kind: 'failed'; readonly message: string; readonly code?: string; readonly port?: number }
  | { readonly kind: 'metrics'; readonly question: number; readonly text: string };
