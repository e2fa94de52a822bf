import { runService } from '@gateway/process';
import { loadConfig } from './config';
import { wireBillingLedger } from './wiring';

runService({ name: 'billing-ledger', loadConfig, wire: wireBillingLedger });
