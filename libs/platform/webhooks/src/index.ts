export * from './environment';
export {
  createWebhookSender,
  WebhookNotDeliveredError,
  webhookUrlIssue,
  type Webhook,
  type WebhookSender,
} from './webhook-sender';
