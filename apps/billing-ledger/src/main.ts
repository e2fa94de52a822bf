import { runService } from '@gateway/process';
import { loadConfig } from './config';
import { schemas, wireBillingLedger } from './wiring';

runService({ name: 'billing-ledger', loadConfig, wire: wireBillingLedger, schemas });
