export { isServed, type Attempt, type Kind, type Outcome } from './attempts';
export { createChatClient, type ChatClient, type Tenant } from './client';
export { startTraffic, type Traffic } from './traffic';
