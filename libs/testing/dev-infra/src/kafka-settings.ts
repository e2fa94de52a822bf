export const KAFKA_CLUSTER_ID = 'Z2F0ZXdheS1kZXYtaW5mcg';

export interface BrokerAddresses {
  /** `host:port` on which it listens. */
  readonly listener: string;
  /** `host:port` under which clients reach it. */
  readonly advertised: string;
  /** `host:port` of the controller in the same process. */
  readonly controller: string;
  readonly directory: string;
}

/** server.properties of a broker that is also its controller. */
export function brokerSettings({
  listener,
  advertised,
  controller,
  directory,
}: BrokerAddresses): Record<string, string> {
  return {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.voters': `1@${controller}`,
    listeners: `PLAINTEXT://${listener},CONTROLLER://${controller}`,
    'advertised.listeners': `PLAINTEXT://${advertised}`,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'log.dirs': `${directory}/log`,
    'auto.create.topics.enable': 'false',
    'offsets.topic.replication.factor': '1',
    'offsets.topic.num.partitions': '4',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'transaction.state.log.num.partitions': '4',
    'group.initial.rebalance.delay.ms': '0',
    'controlled.shutdown.enable': 'false',
    // After a kill, a broker can register again only when its previous session has expired.
    'broker.session.timeout.ms': '3000',
    'broker.heartbeat.interval.ms': '500',
  };
}
