import { runService } from '@gateway/process';
import { loadConfig } from './config';
import { schemas, settleCommand, wireInferenceRouter } from './wiring';

runService({
  name: 'inference-router',
  loadConfig,
  wire: wireInferenceRouter,
  schemas,
  commands: { settle: settleCommand },
});
